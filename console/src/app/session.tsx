import { ApiError } from '@granary/client/errors';
import { notifications } from '@mantine/notifications';
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useMemo, useSyncExternalStore, type ReactNode } from 'react';
import { dropWhatIsKept } from '../api/leaving.ts';
import { whenRightsMayChange } from '../api/rights.ts';
import { csrfHeaders, setCsrfToken, whenSignedOut } from '../api/send.ts';
import { service } from '../api/service.ts';
import { SessionKeeper, type Credentials, type Session } from './session-keeper.ts';

interface SessionTools {
  readonly session: Session;
  readonly signOut: () => Promise<void>;
}

const Context = createContext<SessionTools | undefined>(undefined);

/**
 * Sessions are asked for by plain requests: all services have them alike, and the sign-in page need not load an API.
 */
async function request(method: string, path: string, body?: object): Promise<Session | undefined> {
  const answer = await fetch(`/api/sessions${path}`, {
    method,
    credentials: 'same-origin',
    headers: { accept: 'application/json', 'content-type': 'application/json', ...csrfHeaders() },
    ...(body && { body: JSON.stringify(body) }),
  });
  const json = (await answer.json()) as Record<string, unknown>;
  const inner = (json['response'] ?? json) as Record<string, unknown>;
  const status = Number(inner['status'] ?? 0) || (answer.ok ? 0 : answer.status);
  if (status !== 0) throw new ApiError(status, messageIn(inner) ?? `HTTP ${answer.status}`);
  return (inner['session'] ?? inner['data']) as Session | undefined;
}

function messageIn({ message }: Record<string, unknown>): string | undefined {
  return typeof message === 'string' ? message : undefined;
}

function keeperWith(client: QueryClient): { readonly keeper: SessionKeeper; readonly channel: BroadcastChannel } {
  const channel = new BroadcastChannel(`granary-session-${service.kind}`);
  const keeper = new SessionKeeper({
    request,
    tell: (word) => channel.postMessage(word),
    setToken: setCsrfToken,
    drop: () => {
      client.clear();
      notifications.clean();
      dropWhatIsKept();
    },
    schedule: (action, ms) => window.setTimeout(action, ms),
  });
  return { keeper, channel };
}

interface SessionProviderProps {
  readonly children: ReactNode;
  readonly signIn: (enter: (credentials: Credentials) => Promise<void>, hasEnded: boolean) => ReactNode;
  readonly waiting: (isUnanswered: boolean) => ReactNode;
}

/** Shows its children to those who are signed in, and `signIn` to everyone else. */
export function SessionProvider({ children, signIn, waiting }: SessionProviderProps) {
  const client = useQueryClient();
  const { keeper, channel } = useMemo(() => keeperWith(client), [client]);
  const { session, hasEnded, isUnanswered } = useSyncExternalStore(keeper.subscribe, keeper.snapshot);

  useEffect(() => {
    const stops = [whenSignedOut(() => keeper.expire()), whenRightsMayChange(() => keeper.look())];
    channel.onmessage = ({ data }) => keeper.hear(data);
    void keeper.start();
    return () => {
      for (const stop of stops) stop();
      channel.onmessage = null;
    };
  }, [keeper, channel]);

  const signOut = async () => {
    try {
      await keeper.leave();
    } catch (error) {
      const message = error instanceof ApiError ? error.message : 'The service does not answer. Try again.';
      notifications.show({ color: 'red', title: 'You are still signed in', message });
    }
  };
  if (session === undefined) return waiting(isUnanswered);
  if (session === null) return signIn((credentials) => keeper.enter(credentials), hasEnded);
  // Another person finds nothing of what the one before had open.
  return (
    <Context key={session.id} value={{ session, signOut }}>
      {children}
    </Context>
  );
}

export function useSession(): Session {
  return useSessionTools().session;
}

export function useSessionTools(): SessionTools {
  const tools = useContext(Context);
  if (!tools) throw new Error('Nobody is signed in here.');
  return tools;
}
