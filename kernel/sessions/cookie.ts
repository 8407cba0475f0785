import { TLSSocket } from 'node:tls';
import type { CredentialSource } from '../http/types.ts';

/** Browsers take a cookie of such a name only over TLS and from the host itself. */
const HOST_PREFIX = '__Host-';

/**
 * What a browser sent under that name. Over TLS only a cookie that was set over TLS counts: another program at the same
 * host cannot plant one.
 */
export function readCookie(name: string, { headers, socket }: Pick<CredentialSource, 'headers' | 'socket'>) {
  const { cookie = '' } = headers;
  const pairs = (typeof cookie === 'string' ? cookie : '').split(';').map((pair) => pair.trim());
  const valueOf = (wanted: string) => pairs.find((pair) => pair.startsWith(`${wanted}=`))?.slice(wanted.length + 1);
  return valueOf(HOST_PREFIX + name) ?? (socket instanceof TLSSocket ? undefined : valueOf(name));
}

interface CookieOptions {
  readonly isSecure: boolean;
  readonly maxAgeSeconds: number;
}

/** The Set-Cookie header of a session: no script reads the value, and no other site makes a browser send it. */
export function cookieHeader(name: string, value: string, { isSecure, maxAgeSeconds }: CookieOptions): string {
  const parts = ['Path=/', 'HttpOnly', 'SameSite=Strict', `Max-Age=${maxAgeSeconds}`];
  return isSecure
    ? [`${HOST_PREFIX}${name}=${value}`, ...parts, 'Secure'].join('; ')
    : [`${name}=${value}`, ...parts].join('; ');
}
