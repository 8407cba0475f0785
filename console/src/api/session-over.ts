import { exchange, type Connection } from '@granary/client/call';
import { ApiError } from '@granary/client/errors';
import type { Api } from '@granary/contract';

const INVALID_CREDENTIALS = 5;

/**
 * Whether a refused call means that the session is over. A wrong password or code in a form is refused in the same words,
 * so the service is asked for the session itself.
 */
export async function isSessionOver(error: unknown, api: Api, connection: Connection): Promise<boolean> {
  if (!isRefused(error)) return false;
  const current = api.groups['sessions']?.['getCurrent'];
  if (!current) return true;
  try {
    await exchange(api, current, connection, {});
    return false;
  } catch (refusal) {
    return isRefused(refusal);
  }
}

/** The portal says so by HTTP status, an array by a code. */
export function isRefused(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 401 || error.status === INVALID_CREDENTIALS);
}
