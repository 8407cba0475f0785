import { badParameter, connectionReason, fail, parseHostAndPort } from '@granary/kernel';
import type { Proxy, ProxyType, Route } from './link.ts';

export type Place = Pick<Route, 'host' | 'port' | 'isTls'>;

/** What a caller said of a proxy. */
interface ProxyRequest {
  readonly type?: ProxyType | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
}

/** `host` or `host:port`. */
export function readPlace(field: string, text: string): { host: string; port: number | undefined } {
  // The parser fills in the default for a missing port: two results mean that there is none.
  const [one, two] = [parseHostAndPort(text, 1), parseHostAndPort(text, 2)];
  if (!one || !two) throw badParameter(field, 'must be host or host:port');
  return { host: one.host, port: one.port === two.port ? one.port : undefined };
}

export function readProxy({ type, host: text, port, user, password }: ProxyRequest): Proxy | null {
  if (text === undefined) {
    if ([type, port, user, password].some((one) => one !== undefined))
      throw badParameter('proxyhost', 'is required to go through a proxy');
    return null;
  }
  const { host, port: inHost } = readPlace('proxyhost', text);
  if (inHost !== undefined) throw badParameter('proxyhost', 'must not hold a port; that is proxyport');
  if (port === undefined) throw badParameter('proxyport', 'is required to go through a proxy');
  return { type: type ?? 'http', host, port, user: user ?? null, password: password ?? null };
}

/** Tries one route after the other. `address` is what the caller asked for, for messages. */
export async function firstThatAnswers(
  address: string,
  routes: readonly Route[],
  attempt: (route: Route) => Promise<void>,
): Promise<Route> {
  const problems: unknown[] = [];
  for (const route of routes) {
    try {
      await attempt(route);
      return route;
    } catch (error) {
      if (!isWorthAnotherTry(error)) throw asUnreachable(address, error);
      problems.push(error);
    }
  }
  const plain = problems.find(isPlain);
  // Where only encrypted routes are wanted, that there was no encryption says most; else, what was wrong without it.
  if (plain !== undefined && routes.every(({ isTls }) => isTls)) throw asUnreachable(address, plain);
  throw asUnreachable(address, problems.findLast((error) => !isPlain(error)) ?? plain);
}

/** Something in the clear answered where encryption was tried. */
function isPlain(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return code === 'EPROTO' || code.startsWith('ERR_SSL_');
}

/** A certificate that is not trusted, or an address that is refused, is no reason to try with less care. */
function isWorthAnotherTry(error: unknown): boolean {
  if (isPlain(error)) return true;
  const { code = '', name } = error as NodeJS.ErrnoException;
  return name !== 'GranaryError' && !/CERT|ERR_TLS|UNABLE_TO/.test(code);
}

function asUnreachable(address: string, error: unknown): unknown {
  if (error instanceof Error && error.name === 'GranaryError') return error;
  return fail('remote_unreachable', { address, reason: connectionReason(error) });
}
