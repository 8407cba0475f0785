import type { AgentOptions } from 'node:http';
import type { StartRequest } from '../tls/secure-fetch.ts';
import { http } from './http.ts';

/** Requests in the clear, to an address that the caller looked up and checked. */
export function plainRequests(addressOf: (host: string) => Promise<string>, connectionsMax: number): StartRequest {
  const common: AgentOptions = { maxSockets: connectionsMax, scheduling: 'lifo' };
  const kept = new http.Agent({ ...common, keepAlive: true });
  const fresh = new http.Agent(common);
  return async (url, { method, headers, signal, path, isFresh = false }) => {
    if (url.protocol !== 'http:') throw new TypeError(`${url.protocol} is not what was agreed on`);
    const address = await addressOf(url.hostname);
    return http.request({
      agent: isFresh ? fresh : kept,
      host: address.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? 80 : Number(url.port),
      path,
      method,
      headers: { ...headers, host: url.host } as Record<string, string>,
      signal,
    });
  };
}
