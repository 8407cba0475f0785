import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AccountState, Caller, DataContext, DataSettings } from '../objects/context.ts';
import { SwiftAccess, unauthorized, type TemporaryGrant } from './access/access.ts';
import { accountOf, callerOf } from './access/identify.ts';
import { issueToken, showIdentity, showToken } from './access/keystone.ts';
import { PolicyDecision } from './access/policy.ts';
import { methodNotAllowed, signIn } from './access/sign-in.ts';
import { isTempUrl, TEMP_URL_METHODS, verifyTempUrl, type TempUrlKey } from './access/temp-url.ts';
import { handleAccount } from './account.ts';
import { handleContainer } from './containers/container.ts';
import { preflight } from './containers/cors.ts';
import { formGrant, isFormPost, readForm, storeForm, type PostedForm } from './form/form-post.ts';
import { showInfo } from './info.ts';
import { handleObject } from './objects/object.ts';
import { MAX_OBJECT_SIZE } from './objects/upload.ts';
import { parseTarget, type Address, type Query, type Target } from './request/address.ts';
import { Exchange } from './request/exchange.ts';
import { SwiftRefusal } from './request/refusal.ts';
import type { SwiftReply, SwiftRequest } from './request/request.ts';
import { headerText } from './request/text.ts';

type DataAddress = Extract<Address, { readonly account: string }>;

function headerOf(request: IncomingMessage): (name: string) => string | undefined {
  return (name) => {
    const value = request.headers[name];
    return typeof value === 'string' ? headerText(value) : undefined;
  };
}

function headersWith(request: IncomingMessage, prefix: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const name of Object.keys(request.headers)) {
    const value = request.headers[name];
    if (name.startsWith(prefix) && typeof value === 'string') found.set(name.slice(prefix.length), headerText(value));
  }
  return found;
}

/** The account's keys open all of it, a container's only what is in it. */
function tempUrlKeys(context: DataContext, account: AccountState, container: string): readonly TempUrlKey[] {
  const own = context.store.bucket(account.id, container)?.settings.metadata;
  const keys: TempUrlKey[] = [];
  for (const name of ['temp-url-key', 'temp-url-key-2']) {
    const [whole, part] = [account.metadata[name], own?.[name]];
    if (whole !== undefined && whole !== '') keys.push({ key: whole, scope: 'account' });
    if (part !== undefined && part !== '') keys.push({ key: part, scope: 'container' });
  }
  return keys;
}

function temporaryGrant(exchange: Exchange, target: Target, account: AccountState): TemporaryGrant {
  const { address, path, query } = target;
  const { method, ip, now, context } = exchange;
  if (address.kind !== 'object' || !TEMP_URL_METHODS.includes(method)) {
    throw unauthorized(account.id, '401 Unauthorized: Temp URL invalid');
  }
  // Method, time and path are signed: a request with a version in the address is not covered by the signature.
  if (query.has('version-id')) throw unauthorized(account.id, '401 Unauthorized: Temp URLs do not open versions');
  const { container, object } = address;
  const base = path.slice(0, path.length - object.length);
  const signed = { method, path, base, object, query, ip, now };
  const key = verifyTempUrl(signed, tempUrlKeys(context, account, container));
  if (key === undefined) throw unauthorized(account.id, '401 Unauthorized: Temp URL invalid');
  return {
    account: account.id,
    container: key.scope === 'account' ? null : container,
    writes: method !== 'GET' && method !== 'HEAD',
  };
}

/** That an account does not exist is reported only to users who may see all accounts. */
function noAccount(address: DataAddress, caller: Caller | null, settings: DataSettings): SwiftRefusal {
  if (caller === null) return unauthorized(address.account);
  const seesAll = caller.role === 'objs_admin' && settings.adminAccess;
  return new SwiftRefusal(seesAll ? 404 : 403, seesAll ? 'The account could not be found.' : 'Access was denied.');
}

type GrantOf = (account: AccountState) => Promise<TemporaryGrant> | TemporaryGrant;

/** `grantOf` is for requests that carry their right with them: temporary URLs and forms. */
async function requestOf(
  exchange: Exchange,
  address: DataAddress,
  query: Query,
  grantOf?: GrantOf,
): Promise<SwiftRequest> {
  const { context, request, method, now, body } = exchange;
  const settings = context.settings();
  const header = headerOf(request);
  const token = grantOf !== undefined ? undefined : (header('x-auth-token') ?? header('x-storage-token'));
  const caller = await callerOf(context, token, address.account);
  exchange.knowsCaller(caller);
  const account = await accountOf(context, settings, address.account);
  if (account === undefined) throw noAccount(address, caller, settings);
  exchange.knowsAccount(account.id);
  if (!account.enabled) throw new SwiftRefusal(403, 'The account is disabled.');
  const grant = grantOf === undefined ? null : await grantOf(account);
  const secure = 'encrypted' in request.socket;
  const policy = new PolicyDecision({ settings, now, ip: exchange.ip, secure, caller, query, header }, context.store);
  const access = new SwiftAccess({ caller, grant, referer: header('referer') }, settings, policy);
  access.knows(account);
  return {
    context,
    store: context.store,
    settings,
    now,
    method,
    query,
    body,
    account,
    caller,
    access,
    cause: { user: caller?.user ?? null, ip: exchange.ip, requestId: exchange.transaction },
    header,
    headersWith: (prefix) => headersWith(request, prefix),
    concerns: (bucket) => {
      exchange.concerns(bucket);
    },
    demandRate: () => {
      if (!context.mayChange(account.id)) {
        throw new SwiftRefusal(429, 'Too many changes in this account: slow down.', { 'retry-after': '1' });
      }
    },
    meterBody: () => {
      exchange.meterBody();
    },
  };
}

/** Browsers ask without credentials. */
async function answerPreflight(exchange: Exchange, address: DataAddress): Promise<SwiftReply> {
  if (address.kind === 'account') return { status: 200, headers: { Allow: 'GET, HEAD, POST, OPTIONS' } };
  const account = await accountOf(exchange.context, exchange.context.settings(), address.account);
  const bucket = account && exchange.context.store.bucket(account.id, address.container);
  return preflight(bucket, address.kind, headerOf(exchange.request));
}

/** A form that a page of another site sends: what it may put is signed in its fields. */
async function answerForm(
  exchange: Exchange,
  target: Target,
  address: Exclude<DataAddress, { readonly kind: 'account' }>,
  contentType: string,
): Promise<SwiftReply> {
  const { context, body, now } = exchange;
  const { container } = address;
  const holder: { form?: PostedForm } = {};
  const request = await requestOf(exchange, address, target.query, async (account) => {
    const form = await readForm(contentType, body.stream(MAX_OBJECT_SIZE), target.path);
    holder.form = form;
    return formGrant(form, account.id, container, tempUrlKeys(context, account, container), now);
  });
  if (holder.form === undefined) throw new SwiftRefusal(400, 'FormPost: no files to process');
  return storeForm({ ...request, container }, holder.form, address.kind === 'object' ? address.object : '');
}

async function answerData(exchange: Exchange, target: Target, address: DataAddress): Promise<SwiftReply> {
  if (address.kind === 'account') exchange.aims('account');
  else if (address.kind === 'container') exchange.aims('bucket', address.container);
  else exchange.aims('object', address.container, address.object);
  if (exchange.method === 'OPTIONS') return answerPreflight(exchange, address);
  const type = exchange.request.headers['content-type'];
  if (address.kind !== 'account' && isFormPost(exchange.method, type)) {
    return answerForm(exchange, target, address, type ?? '');
  }
  const { query } = target;
  const grantOf = isTempUrl(query) ? (account: AccountState) => temporaryGrant(exchange, target, account) : undefined;
  const request = await requestOf(exchange, address, query, grantOf);
  if (address.kind === 'account') return handleAccount(request);
  const { container } = address;
  if (address.kind === 'container') return handleContainer({ ...request, container });
  return handleObject({ ...request, container, object: address.object });
}

function demandGet(method: string): void {
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed('GET', 'HEAD');
}

async function answerTokens(exchange: Exchange): Promise<SwiftReply> {
  const { context, body, request, ip, method } = exchange;
  if (method === 'POST') return issueToken(context, body, ip);
  if (method === 'GET' || method === 'HEAD') return showToken(context, headerOf(request));
  throw methodNotAllowed('GET', 'HEAD', 'POST');
}

async function answer(exchange: Exchange): Promise<SwiftReply> {
  const { context, request, method } = exchange;
  const target = parseTarget(request.url ?? '/');
  const { address } = target;
  if ('account' in address) return answerData(exchange, target, address);
  if (address.kind === 'nowhere') throw new SwiftRefusal(404, 'The resource could not be found.');
  if (address.kind === 'tokens') return answerTokens(exchange);
  demandGet(method);
  if (address.kind === 'info') return showInfo(context.store);
  if (address.kind === 'identity') return showIdentity(context);
  if (address.kind === 'sign-in') return signIn(context, headerOf(request), exchange.ip);
  return { status: 200, headers: { 'Content-Type': 'text/plain; charset=UTF-8' }, body: 'OK' };
}

/**
 * Swift over an object store. Register it for `request` and for `checkContinue`: clients that wait for `100 Continue`
 * get it only after they have been let in.
 */
export function createSwift(context: DataContext): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const exchange = new Exchange(context, request, response);
    exchange
      .answerWith(() => answer(exchange))
      .catch((error: unknown) => {
        context.onError(error, exchange.transaction);
        response.destroy();
      });
  };
}
