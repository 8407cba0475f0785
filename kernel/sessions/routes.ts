import { formatUtc, type Clock } from '../clock.ts';
import { fail, GranaryError } from '../errors.ts';
import type { EventLog } from '../events/events.ts';
import type { Actor, Context } from '../http/types.ts';
import type { Page } from '../records/paging.ts';
import type { Store, Tx } from '../store/index.ts';
import { RefusedSignIns } from './refused-sign-ins.ts';
import type { Session } from './session.ts';
import type { Sessions } from './sessions.ts';

/** A user as sessions show it. */
export interface SessionPerson<Role extends string, Fields extends object> {
  readonly username: string;
  readonly role: Role;
  /** What events of the user are about. */
  readonly subject: string;
  readonly fields: Fields;
}

/** The users of a service, as far as signing a browser in needs them. */
export interface SessionPeople<Input, Role extends string, Fields extends object> {
  /** Checks what was sent, slowing down those who guess. `confirm` throws when it no longer holds. */
  verify(input: Input, ip: string): Promise<{ readonly user: string; readonly confirm: (tx: Tx) => void }>;
  /** Undefined when the user was removed. */
  find(user: string): SessionPerson<Role, Fields> | undefined;
  /** The user whom a refused sign-in named, where there is one. */
  named(input: Input): Pick<SessionPerson<Role, Fields>, 'username' | 'subject'> | undefined;
  isAdministrator(actor: Actor): boolean;
}

interface SessionRouteParts<Input, Role extends string, Fields extends object, Service extends object = object> {
  readonly sessions: Sessions;
  readonly people: SessionPeople<Input, Role, Fields>;
  /** What a session shows of the service. */
  readonly service: () => Service;
  readonly store: Store;
  readonly clock: Clock;
  readonly events: EventLog;
}

type NamedActor = Actor & { readonly username: string };
type By = Context<NamedActor>;

/** The handlers of `sessionEndpoints`, for whichever service declares them. */
export function sessionRoutes<Input, Role extends string, Fields extends object, Service extends object>(
  parts: SessionRouteParts<Input, Role, Fields, Service>,
) {
  const { sessions, people, service, events } = parts;
  const refused = refusalRecorder(parts);
  const shown = (session: Session, person: SessionPerson<Role, Fields>, current: number | undefined) => ({
    id: session.id,
    username: person.username,
    role: person.role,
    ...person.fields,
    created_at: formatUtc(session.createdAt),
    last_seen_at: formatUtc(sessions.seenAt(session)),
    idle_minutes: sessions.settings.current().idleMinutes,
    expires_at: formatUtc(sessions.expiresAt(session)),
    ip: session.ip,
    user_agent: session.userAgent,
    current: session.id === current,
  });
  const own = (session: Session) => {
    const person = people.find(session.user);
    if (!person) throw fail('invalid_credentials');
    const csrf = { csrf_token: sessions.csrfToken(session.id) };
    return { session: { ...shown(session, person, session.id), ...service(), ...csrf } };
  };
  return {
    create: async (input: Input, context: Context<Actor>) => {
      const { ip, browser } = context;
      const { user, confirm } = await people.verify(input, ip).catch(async (error: unknown) => {
        await refused(input, ip, error);
        throw error;
      });
      const { session, value } = await sessions.begin({ user, ip, userAgent: browser.userAgent }, (tx) => {
        confirm(tx);
        const person = people.find(user);
        if (!person) throw fail('invalid_credentials');
        const { username: actor, subject } = person;
        events.record(tx, { title: `${actor} signed in with a browser from ${ip}.`, subject, actor });
      });
      context.setCookie = sessions.cookie(value, browser.isSecure);
      return own(session);
    },
    getCurrent: (_: unknown, { actor }: By) => {
      const session = currentOf(sessions, actor);
      return session ? own(session) : { session: null };
    },
    deleteCurrent: async (_: unknown, context: By) => {
      const { actor, browser } = context;
      const session = currentOf(sessions, actor);
      if (!session) return {};
      await sessions.end(session, (tx) => {
        const subject = people.find(session.user)?.subject ?? session.user;
        events.record(tx, { title: `${actor.username} signed out.`, subject, actor: actor.username });
      });
      context.setCookie = sessions.expiredCookie(browser.isSecure);
      return {};
    },
    list: ({ all, ...page }: Page & { readonly all: boolean }, context: By) => {
      const { actor } = context;
      const { sessions: found, count } = sessions.list(all && people.isAdministrator(actor) ? null : actor.id, page);
      context.total = count;
      const views = found.flatMap((session) => {
        const person = people.find(session.user);
        return person ? [shown(session, person, actor.sessionId)] : [];
      });
      return { sessions: views, count };
    },
    delete: async ({ id }: { readonly id: number }, { actor }: By) => {
      const session = sessions.get(id);
      if (!session || (session.user !== actor.id && !people.isAdministrator(actor)))
        throw fail('session_not_found', { id });
      await sessions.end(session, (tx) => {
        const person = people.find(session.user);
        const { username = session.user, subject = session.user } = person ?? {};
        const title = `${actor.username} signed out a browser of ${username} that had signed in from ${session.ip}.`;
        events.record(tx, { severity: 'notice', title, subject, actor: actor.username });
      });
      return {};
    },
  };
}

/** The handlers of `sessionSettingEndpoints`. */
export function sessionSettingRoutes(sessions: Sessions) {
  const view = () => {
    const { idleMinutes, hoursMax } = sessions.settings.current();
    return { idle_minutes: idleMinutes, hours_max: hoursMax };
  };
  return {
    getSessions: view,
    setSessions: async (
      { idle_minutes: idleMinutes, hours_max: hoursMax }: { readonly idle_minutes: number; readonly hours_max: number },
      { actor }: { readonly actor: NamedActor },
    ) => {
      await sessions.changeLimits({ idleMinutes, hoursMax }, actor.username);
      return view();
    },
  };
}

/** Undefined where the request was made with a key or token. */
function currentOf(sessions: Sessions, { sessionId, id }: Actor): Session | undefined {
  const session = sessionId === undefined ? undefined : sessions.get(sessionId);
  return session?.user === id ? session : undefined;
}

/** A name that nobody has is not written down: it may be a password that was typed into the wrong field. */
function refusalRecorder<Input, Role extends string, Fields extends object>({
  people,
  store,
  events,
  clock,
}: SessionRouteParts<Input, Role, Fields>) {
  const refused = new RefusedSignIns(clock);
  return async (input: Input, ip: string, error: unknown): Promise<void> => {
    if (!(error instanceof GranaryError) || error.entry === 'code_needed') return;
    const { username = 'somebody', subject = 'user' } = people.named(input) ?? {};
    const place = refused.admit(username, ip);
    if (place === 'no') return;
    const more = place === 'last' ? ' More of the next minutes are not recorded.' : '';
    const title = `A sign-in of ${username} from ${ip} was refused.${more}`;
    await store.writeUnlessFull((tx) => events.record(tx, { severity: 'notice', title, subject, kind: 'user' }));
  };
}
