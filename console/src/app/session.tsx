import { ApiError } from '@granary/client/errors';
import { notifications } from '@mantine/notifications';
import { isOver, untilAnswered } from './until-answered.ts';
import { useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { forgetCreated } from '../api/created.ts';
import { attendance, whenActing } from '../api/presence.ts';
import { whenRightsMayChange } from '../api/rights.ts';
import { announceSignedOut, csrfHeaders, setCsrfToken, whenSignedOut } from '../api/send.ts';
import { isRefused } from '../api/session-over.ts';
import { service } from '../api/service.ts';
import { dropDrafts, dropDraftsOfOthers, keepDrafts } from './drafts.ts';

/** A signed-in person, as the service describes the session. */
export interface Session {
  readonly id: string;
  readonly username: string;
  readonly role: string;
  readonly csrf_token: string;
  readonly idle_minutes: number;
  readonly expires_at: string;
  readonly auto_approved?: boolean;
  readonly user_id?: number;
  readonly account_id?: string;
  readonly account_name?: string;
  /** The array takes no change at present. */
  readonly locked_down?: boolean;
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
  readonly account?: string;
  readonly code?: string;
}

interface SessionTools {
  readonly session: Session;
  readonly signOut: () => Promise<void>;
  /** Tells the service that somebody is there. */
  readonly keep: () => void;
}

/** `undefined` while the service is asked, `null` without a session. */
type State = Session | null | undefined;

const Context = createContext<SessionTools | undefined>(undefined);
const CHANNEL = `granary-session-${service.kind}`;
const SIGNED_OUT = 'signed-out';
const SIGNED_IN = 'signed-in';

/**
 * Sessions are asked for by plain requests: all services have them alike, and the sign-in page need not load an API.
 */
async function request(method: string, path: string, body?: object): Promise<Session | undefined> {
  const answer = await fetch(`/api/sessions${path}`, {
    method,
    credentials: 'same-origin',
    headers: { accept: 'application/json', 'content-type': 'application/json', ...csrfHeaders(), ...attendance() },
    ...(body && { body: JSON.stringify(body) }),
  });
  const json = (await answer.json()) as Record<string, unknown>;
  const inner = (json['response'] ?? json) as Record<string, unknown>;
  const status = Number(inner['status'] ?? 0) || (answer.ok ? 0 : answer.status);
  if (status !== 0) throw new ApiError(status, messageIn(inner) ?? `HTTP ${answer.status}`);
  return (inner['session'] ?? inner['data']) as Session | undefined;
}

function isSamePerson(before: Session, now: Session): boolean {
  const fields = ['username', 'role', 'auto_approved', 'account_id', 'account_name', 'locked_down'] as const;
  return fields.every((field) => before[field] === now[field]);
}

function messageIn({ message }: Record<string, unknown>): string | undefined {
  return typeof message === 'string' ? message : undefined;
}

/** Shows its children to those who are signed in, and `signIn` to everyone else. */
export function SessionProvider(props: {
  readonly children: ReactNode;
  readonly signIn: (enter: (credentials: Credentials) => Promise<void>, hasEnded: boolean) => ReactNode;
  readonly waiting: (isUnanswered: boolean) => ReactNode;
}) {
  const [state, setState] = useState<State>(undefined);
  /** The same, for what other tabs say. */
  const current = useRef<Session | null>(null);
  /** Whether somebody was signed in here, and did not sign out here. */
  const [hasEnded, setEnded] = useState(false);
  const keptAt = useRef(Date.now());
  const client = useQueryClient();
  const channel = useMemo(() => new BroadcastChannel(CHANNEL), []);
  const [isUnanswered, setUnanswered] = useState(false);

  useEffect(() => {
    untilAnswered(() => request('GET', '/current'), { tell: setUnanswered }).then(
      (session) => begin(session ?? null),
      () => begin(null),
    );
    const stops = [whenSignedOut(() => end(true)), whenRightsMayChange(readAgain), whenActing(keepWhileTyping)];
    channel.onmessage = ({ data }) => {
      if (data === SIGNED_OUT) end(false);
      if (data === SIGNED_IN) void takeUp();
    };
    return () => {
      for (const stop of stops) stop();
    };
  }, []);

  function begin(session: Session | null): void {
    if (session) dropDraftsOfOthers(session.username);
    setCsrfToken(session?.csrf_token);
    current.current = session;
    setState(session);
  }

  /** What is offered follows the person's role while the page is open. */
  async function readAgain(): Promise<void> {
    const session = await request('GET', '/current').catch((error: unknown) => {
      // The session ended while nothing was heard of the service, as where a computer slept.
      if (isRefused(error)) announceSignedOut();
      return undefined;
    });
    if (session) setState((before) => (before?.id === session.id && !isSamePerson(before, session) ? session : before));
  }

  function keep(): void {
    keptAt.current = Date.now();
    void readAgain();
  }

  /** Who fills in a long form is there, though nothing is sent. */
  function keepWhileTyping(): void {
    const idleMs = (current.current?.idle_minutes ?? Infinity) * 60_000;
    if (Date.now() - keptAt.current > idleMs / 5) keep();
  }

  /** Another tab signed in: the cookie is that person's in all tabs. */
  async function takeUp(): Promise<void> {
    const session = await request('GET', '/current').catch(() => undefined);
    if (!session || session.id === current.current?.id) return;
    if (current.current) end(false);
    begin(session);
  }

  /** Nothing that was shown stays in memory for the next person at this browser. */
  function end(byItself: boolean): void {
    // Several requests may say so: the first finds the forms still open.
    if (byItself && current.current) keepDrafts(current.current.username);
    if (!byItself) dropDrafts();
    setEnded(byItself);
    begin(null);
    client.clear();
    forgetCreated();
  }

  async function enter(credentials: Credentials): Promise<void> {
    begin((await request('POST', '', credentials)) ?? null);
    setEnded(false);
    channel.postMessage(SIGNED_IN);
  }

  async function signOut(): Promise<void> {
    try {
      await request('DELETE', '/current');
    } catch (error) {
      if (!isOver(error)) {
        const message = error instanceof ApiError ? error.message : 'The service does not answer. Try again.';
        notifications.show({ color: 'red', title: 'You are still signed in', message });
        return;
      }
    }
    channel.postMessage(SIGNED_OUT);
    end(false);
  }

  if (state === undefined) return props.waiting(isUnanswered);
  if (state === null) return props.signIn(enter, hasEnded);
  return <Context value={{ session: state, signOut, keep }}>{props.children}</Context>;
}

export function useSession(): Session {
  return useSessionTools().session;
}

export function useSessionTools(): SessionTools {
  const tools = useContext(Context);
  if (!tools) throw new Error('Nobody is signed in here.');
  return tools;
}
