import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';

/** What Node throws when a call of the system fails with this: some have a number only. */
export function systemError(name: 'EDQUOT' | 'EIO' | 'ENOSPC'): Error {
  const errno = -constants.errno[name];
  const code = getSystemErrorName(errno);
  return Object.assign(new Error(`${code}: on purpose`), { code, errno });
}
