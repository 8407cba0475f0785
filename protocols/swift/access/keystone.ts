import type { Caller, DataContext } from '../../objects/context.ts';
import type { SwiftRequestBody } from '../request/body.ts';
import { SwiftRefusal, statusText } from '../request/refusal.ts';
import type { SwiftReply } from '../request/request.ts';
import { storageUrl } from './sign-in.ts';

/**
 * As much of Keystone v3 as clients of Swift need: a token for a user's password, checking a token, and the catalogue
 * that says where the object store is. Projects are accounts; there is one domain.
 */

const MAX_BODY = 64 * 1024;
const DOMAIN = { id: 'default', name: 'Default' };

interface Credentials {
  readonly account: string;
  readonly user: string;
  readonly password: string;
}

type Json = Readonly<Record<string, unknown>>;

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Json)[name] : undefined;
}

function text(value: unknown, name: string): string | undefined {
  const found = field(value, name);
  return typeof found === 'string' && found !== '' && found.length <= 1024 ? found : undefined;
}

/** The project of the scope; without one the user's name may carry the account, as in `account:user`. */
function credentials(auth: unknown): Credentials | undefined {
  const user = field(field(field(auth, 'identity'), 'password'), 'user');
  const name = text(user, 'name') ?? text(user, 'id');
  const password = text(user, 'password');
  if (name === undefined || password === undefined) return undefined;
  const project = field(field(auth, 'scope'), 'project');
  const account = text(project, 'name') ?? text(project, 'id');
  if (account !== undefined) return { account, user: name, password };
  const colon = name.indexOf(':');
  return colon > 0 ? { account: name.slice(0, colon), user: name.slice(colon + 1), password } : undefined;
}

function endpoints(region: string, url: string): unknown[] {
  return ['public', 'internal', 'admin'].map((shown) => ({
    id: `${region}-${shown}`,
    interface: shown,
    region,
    region_id: region,
    url,
  }));
}

function tokenBody(context: DataContext, caller: Caller, method: string, expiresAt: number): string {
  const { region, publicUrl } = context.settings();
  const identity = `${publicUrl.replace(/\/+$/, '')}/v3`;
  return JSON.stringify({
    token: {
      methods: [method],
      issued_at: new Date(context.now()).toISOString(),
      expires_at: new Date(expiresAt).toISOString(),
      audit_ids: [],
      is_domain: false,
      user: { id: caller.user, name: caller.username, domain: DOMAIN, password_expires_at: null },
      project: { id: caller.account, name: caller.accountName, domain: DOMAIN },
      roles: [{ id: caller.role, name: caller.role }],
      catalog: [
        {
          id: 'object-store',
          type: 'object-store',
          name: 'swift',
          endpoints: endpoints(region, storageUrl(context, caller.account)),
        },
        { id: 'identity', type: 'identity', name: 'keystone', endpoints: endpoints(region, identity) },
      ],
    },
  });
}

function tokenReply(status: number, token: string, body: string): SwiftReply {
  const headers = { 'X-Subject-Token': token, Vary: 'X-Auth-Token', 'Content-Type': 'application/json' };
  return { status, headers: { ...headers, 'Cache-Control': 'no-store' }, body };
}

function failure(status: number, message: string): SwiftReply {
  const body = JSON.stringify({ error: { code: status, title: statusText(status), message } });
  const headers = { 'Content-Type': 'application/json', Vary: 'X-Auth-Token' };
  return { status, headers: status === 401 ? { ...headers, 'WWW-Authenticate': 'Keystone uri="/v3"' } : headers, body };
}

const UNAUTHORIZED = 'The request you have made requires authentication.';

async function read(body: SwiftRequestBody): Promise<unknown> {
  try {
    return field(JSON.parse((await body.whole(MAX_BODY)).toString('utf8')), 'auth');
  } catch (error) {
    if (error instanceof SwiftRefusal) throw error;
    return undefined;
  }
}

async function byPassword(context: DataContext, auth: unknown, ip: string): Promise<SwiftReply> {
  const asked = credentials(auth);
  if (asked === undefined) return failure(400, 'Give user name, password and project (the account).');
  const account = await context.directory.account(asked.account);
  const answer = await context.directory.signIn(account?.name ?? asked.account, asked.user, asked.password, ip);
  if ('refused' in answer) {
    if (answer.refused === 'account-disabled') return failure(403, 'The account is disabled.');
    return failure(401, UNAUTHORIZED);
  }
  const body = tokenBody(context, answer.caller, 'password', answer.expiresAt);
  return tokenReply(201, answer.token, body);
}

async function byToken(context: DataContext, token: string, status: number): Promise<SwiftReply> {
  const answer = await context.directory.byToken(token);
  if ('refused' in answer) return failure(401, UNAUTHORIZED);
  return tokenReply(status, token, tokenBody(context, answer.caller, 'token', answer.expiresAt));
}

/** `POST /v3/auth/tokens`. */
export async function issueToken(context: DataContext, body: SwiftRequestBody, ip: string): Promise<SwiftReply> {
  const auth = await read(body);
  const identity = field(auth, 'identity');
  const methods = field(identity, 'methods');
  if (!Array.isArray(methods)) return failure(400, 'auth.identity.methods must be a list.');
  if (methods.includes('password')) return byPassword(context, auth, ip);
  const token = text(field(identity, 'token'), 'id');
  if (methods.includes('token') && token !== undefined) return byToken(context, token, 201);
  return failure(401, 'Only the methods password and token are known.');
}

/** `GET /v3/auth/tokens`: what a token is good for. A token may ask about itself only. */
export function showToken(context: DataContext, header: (name: string) => string | undefined): Promise<SwiftReply> {
  const own = header('x-auth-token');
  const subject = header('x-subject-token');
  if (own === undefined || own !== subject) return Promise.resolve(failure(401, UNAUTHORIZED));
  return byToken(context, subject, 200);
}

/** `GET /v3`. */
export function showIdentity(context: DataContext): SwiftReply {
  const href = `${context.settings().publicUrl.replace(/\/+$/, '')}/v3/`;
  const version = {
    id: 'v3.14',
    status: 'stable',
    updated: '2020-04-07T00:00:00Z',
    links: [{ rel: 'self', href }],
    'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.identity-v3+json' }],
  };
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ version }) };
}
