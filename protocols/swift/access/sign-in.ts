import type { DataContext } from '../../objects/context.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import type { SwiftReply } from '../request/request.ts';
import { unauthorized } from './access.ts';
import { refusedBy } from './identify.ts';

export function storageUrl(context: DataContext, account: string): string {
  return `${context.settings().publicUrl.replace(/\/+$/, '')}/v1/AUTH_${account}`;
}

/** `GET /auth/v1.0`: user and key in headers, a token and where to use it in headers again. */
export async function signIn(
  context: DataContext,
  header: (name: string) => string | undefined,
  ip: string,
): Promise<SwiftReply> {
  const user = header('x-auth-user') ?? header('x-storage-user') ?? '';
  const key = header('x-auth-key') ?? header('x-storage-pass') ?? '';
  const colon = user.indexOf(':');
  if (colon <= 0 || key === '') throw unauthorized('unknown', 'Send X-Auth-User (account:user) and X-Auth-Key.');
  const answer = await context.directory.signIn(user.slice(0, colon), user.slice(colon + 1), key, ip);
  if ('refused' in answer) throw refusedBy(answer.refused, 'unknown');
  const url = storageUrl(context, answer.caller.account);
  return {
    status: 200,
    headers: {
      'X-Auth-Token': answer.token,
      'X-Storage-Token': answer.token,
      'X-Storage-Url': url,
      'X-Auth-Token-Expires': String(Math.max(0, Math.floor((answer.expiresAt - context.now()) / 1000))),
      'Cache-Control': 'no-store',
      'Content-Type': 'application/json; charset=utf-8',
    },
    body: JSON.stringify({ storage: { default: 'local', local: url } }),
  };
}

export function methodNotAllowed(...allowed: readonly string[]): SwiftRefusal {
  return new SwiftRefusal(405, 'The method is not allowed for this resource.', { allow: allowed.join(', ') });
}
