import { FileError, type FileId } from '../filesystem.ts';

/**
 * A file handle is 24 bytes: the version of this form, what it names, the filesystem's id, the inode and its generation.
 * It holds nothing of the process that made it, so it is good after a restart and after a failover.
 */
export type HandleKind = 'file' | 'pseudo' | 'snapshots';

export interface HandleFields extends FileId {
  readonly kind: HandleKind;
  readonly filesystemId: bigint;
}

export const HANDLE_BYTES = 24;
const VERSION = 1;
const TWO_32 = 2 ** 32;
const KINDS: readonly HandleKind[] = ['file', 'pseudo', 'snapshots'];

/** Not a file handle that we gave out. */
export class BadHandle extends FileError {
  constructor() {
    super('EINVAL', 'not a file handle of this server');
  }
}

export function encodeHandle({ kind, filesystemId, inode, generation }: HandleFields): Buffer {
  const handle = Buffer.alloc(HANDLE_BYTES);
  handle[0] = VERSION;
  handle[1] = KINDS.indexOf(kind);
  handle.writeBigUInt64BE(filesystemId, 4);
  handle.writeUInt32BE(Math.floor(inode / TWO_32), 12);
  handle.writeUInt32BE(inode % TWO_32, 16);
  handle.writeUInt32BE(generation, 20);
  return handle;
}

export function decodeHandle(handle: Buffer): HandleFields {
  const kind = KINDS[handle[1] ?? KINDS.length];
  if (handle.length !== HANDLE_BYTES || handle[0] !== VERSION || kind === undefined) throw new BadHandle();
  const inode = handle.readBigUInt64BE(12);
  if (handle.readUInt16BE(2) !== 0 || inode > BigInt(Number.MAX_SAFE_INTEGER)) throw new BadHandle();
  const [filesystemId, generation] = [handle.readBigUInt64BE(4), handle.readUInt32BE(20)];
  return { kind, filesystemId, inode: Number(inode), generation };
}
