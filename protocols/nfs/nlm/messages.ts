import { RANGE_END, type LockRange } from '../../locks/index.ts';
import { ownCopy } from '../xdr/own-copy.ts';
import type { XdrReader } from '../xdr/reader.ts';

const COOKIE_BYTES_MAX = 1024;
const NAME_BYTES_MAX = 1024;
const HANDLE_BYTES_MAX = 64;

export const NlmStatus = {
  granted: 0,
  denied: 1,
  noLocks: 2,
  blocked: 3,
  grace: 4,
  readOnly: 6,
  staleHandle: 7,
  tooLarge: 8,
  failed: 9,
} as const;

/** Who locks what, as the lock manager's protocol says it. */
export interface LockArguments {
  readonly cookie: Buffer;
  readonly exclusive: boolean;
  readonly caller: Buffer;
  readonly handle: Buffer;
  readonly owner: Buffer;
  readonly processId: number;
  readonly offset: bigint;
  readonly length: bigint;
}

export function readCookie(args: XdrReader): Buffer {
  return ownCopy(args.opaque(COOKIE_BYTES_MAX));
}

export function readLock(args: XdrReader, cookie: Buffer, exclusive: boolean): LockArguments {
  const caller = ownCopy(args.opaque(NAME_BYTES_MAX));
  const handle = ownCopy(args.opaque(HANDLE_BYTES_MAX));
  const owner = ownCopy(args.opaque(COOKIE_BYTES_MAX));
  const [processId, offset, length] = [args.i32(), args.u64(), args.u64()];
  return { cookie, exclusive, caller, handle, owner, processId, offset, length };
}

/** A length of 0 reaches to the end, wherever that is. Undefined if there is no such range. */
export function rangeOf({ offset, length }: Pick<LockArguments, 'offset' | 'length'>): LockRange | undefined {
  if (length === 0n) return { start: offset, end: RANGE_END };
  return offset + length > RANGE_END ? undefined : { start: offset, end: offset + length };
}

export function readName(args: XdrReader): Buffer {
  return ownCopy(args.opaque(NAME_BYTES_MAX));
}
