import { badParameter } from '@granary/kernel';

const NAME_BYTES_MAX = 255;

/** A directory in its one usual form: from the root of the share, without a slash at its end. */
export function readDirectoryPath(field: string, text: string): string {
  if (!text.startsWith('/')) throw badParameter(field, 'must begin with / : it counts from the root of the share');
  const names = text.split('/').filter((name) => name !== '');
  for (const name of names) {
    if (name === '.' || name === '..') throw badParameter(field, 'must not hold . or .. as a name');
    if (name.includes('\0')) throw badParameter(field, 'must not hold a NUL character');
    if (Buffer.byteLength(name) > NAME_BYTES_MAX)
      throw badParameter(field, `must have names of at most ${NAME_BYTES_MAX} bytes`);
  }
  return `/${names.join('/')}`;
}
