import type { TProperties } from 'typebox';
import { anyone, endpoint, type Access } from './endpoint.ts';
import type { ErrorName } from './errors.ts';
import { boolean, integer, page, recordNumber, withDefault, type Params } from './params.ts';
import { bool, int, listOf, nullable, oneOf, record, shownOnce, str, utc } from './records.ts';
import type { RecordReply } from './reply.ts';

const IDLE_MINUTES = { min: 5, max: 1440 };
const HOURS = { min: 1, max: 720 };

interface SessionParts<P extends Params, F extends TProperties, S extends TProperties, R extends readonly string[]> {
  readonly signedIn: Access;
  /** Their own, and for an administrator all. */
  readonly owners: Access;
  readonly reply: <G extends TProperties>(fields: G) => RecordReply<G>;
  readonly roles: R;
  /** What a user signs in with. */
  readonly credentials: P;
  /** What a session shows of the user besides name and role. */
  readonly userFields: F;
  /** What whoever is signed in has to know of the service. */
  readonly serviceFields: S;
  /** Why a sign-in is refused besides wrong credentials. */
  readonly errors: readonly ErrorName[];
}

function sessionFields<R extends readonly string[]>(roles: R) {
  return {
    id: int(),
    username: str(),
    role: oneOf(...roles),
    created_at: utc(),
    last_seen_at: utc('Time of the last request, to the minute'),
    idle_minutes: int('It ends after this many minutes without a request of a person'),
    expires_at: utc('It ends then in any case'),
    ip: str('Where it was begun from'),
    user_agent: nullable(str('What the browser calls itself')),
    current: bool('This request was made with it'),
  };
}

/** Of an array. */
export const arrayServiceFields = {
  locked_down: bool('The array takes no changes until an administrator of the portal releases it'),
};

/** Group of every service: browsers that are signed in. */
export function sessionEndpoints<
  P extends Params,
  F extends TProperties,
  S extends TProperties,
  const R extends readonly string[],
>(parts: SessionParts<P, F, S, R>) {
  const { signedIn, owners, reply, credentials, userFields, serviceFields } = parts;
  const fields = { ...sessionFields(parts.roles), ...userFields };
  const BrowserSession = record('BrowserSession', fields);
  const OwnBrowserSession = record('OwnBrowserSession', {
    ...fields,
    ...serviceFields,
    csrf_token: shownOnce('CSRF token', 'Send it as X-CSRF-Token with every request but GET and HEAD'),
  });
  const id = recordNumber('The session');
  return {
    create: endpoint('POST', '/sessions', {
      summary: 'Sign a browser in: the reply sets a cookie that later requests are made with',
      access: anyone,
      params: credentials,
      reply: reply({ session: OwnBrowserSession }),
      // On a full disk, too: who wants to free space has to sign in first.
      frees: true,
      setsCookie: true,
      errors: ['invalid_credentials', 'too_many_attempts', 'foreign_page', ...parts.errors],
    }),
    getCurrent: endpoint('GET', '/sessions/current', {
      summary: 'Show the session that the request is made with; null where it is made with a key or token',
      access: signedIn,
      reply: reply({ session: nullable(OwnBrowserSession) }),
    }),
    deleteCurrent: endpoint('DELETE', '/sessions/current', {
      summary: 'Sign out: end the session that the request is made with, if it is made with one',
      access: signedIn,
      reply: reply({}),
      setsCookie: true,
    }),
    list: endpoint('GET', '/sessions', {
      summary: 'List where you are signed in; an administrator may list the sessions of all',
      access: signedIn,
      params: {
        ...page,
        all: withDefault(boolean('Sessions of all users, for an administrator', { example: false }), false),
      },
      reply: reply({ sessions: listOf(BrowserSession), count: int() }),
    }),
    delete: endpoint('DELETE', '/sessions/{id}', {
      summary: 'Sign a browser out: your own, or any for an administrator',
      access: owners,
      params: { id },
      reply: reply({}),
      errors: ['session_not_found'],
    }),
  };
}

/** Settings of every service: how long sessions last. */
export function sessionSettingEndpoints(
  administrators: Access,
  reply: <F extends TProperties>(fields: F) => RecordReply<F>,
) {
  const limits = { idle_minutes: int(), hours_max: int() };
  return {
    getSessions: endpoint('GET', '/settings/sessions', {
      summary: 'Show how long browsers stay signed in',
      access: administrators,
      reply: reply(limits),
    }),
    setSessions: endpoint('PUT', '/settings/sessions', {
      summary: 'Change how long browsers stay signed in; it counts for open sessions, too',
      access: administrators,
      params: {
        idle_minutes: integer('Minutes without a request of a person after which a session ends', {
          ...IDLE_MINUTES,
          example: 30,
        }),
        hours_max: integer('Hours after which it ends in any case', { ...HOURS, example: 12 }),
      },
      reply: reply(limits),
    }),
  };
}
