import { arrayApi } from '@granary/contract/array';
import { cloudApi } from '@granary/contract/cloud';
import { objectsApi } from '@granary/contract/objects';
import { portalApi } from '@granary/contract/portal';
import type { Connection } from './call.ts';
import { createClient, type Client } from './client.ts';

export type PortalClient = Client<typeof portalApi>;
export type ArrayClient = Client<typeof arrayApi>;
export type ObjectsClient = Client<typeof objectsApi>;
export type CloudClient = Client<typeof cloudApi>;

type Place = Pick<Connection, 'url' | 'timeoutMs' | 'fetch'>;

/** The portal; without a token only `tokens.get` and `tokens.reset` answer. */
export function portalClient({ token, ...place }: Place & { readonly token?: string }): PortalClient {
  return createClient(portalApi, { ...place, headers: token === undefined ? {} : { 'x-token': token } });
}

/** A block and file array at its `management_url`; `users.login` answers without a key. */
export function arrayClient({ accessKey, ...place }: Place & { readonly accessKey?: string }): ArrayClient {
  return createClient(arrayApi, { ...place, headers: accessKey === undefined ? {} : { 'x-access-key': accessKey } });
}

/** An object storage array at its `management_url`; `users.authenticate` answers without a key. */
export function objectsClient({ accessKey, ...place }: Place & { readonly accessKey?: string }): ObjectsClient {
  return createClient(objectsApi, { ...place, headers: accessKey === undefined ? {} : { 'x-access-key': accessKey } });
}

export function cloudClient({
  user,
  key,
  ...place
}: Place & { readonly user: string; readonly key: string }): CloudClient {
  const basic = Buffer.from(`${user}:${key}`).toString('base64');
  return createClient(cloudApi, { ...place, headers: { authorization: `Basic ${basic}` } });
}

export { call, exchange, type Answer, type Connection } from './call.ts';
export { createClient, type Client } from './client.ts';
export { ApiError, ConnectionError, StillRunning } from './errors.ts';
