import type { Awaitable, Change } from '../../filesystem.ts';
import type { Place } from '../../namespace/namespace.ts';
import { checkName, isDot, isDotDot } from '../../operations.ts';
import type { XdrReader } from '../../xdr/reader.ts';
import type { XdrWriter } from '../../xdr/writer.ts';
import type { Compound } from '../compound.ts';
import { Nfs4Error, Status4 } from '../status.ts';

/** Reads its arguments, does its work, writes what follows the status. Throws if it fails. */
export type Operation = (compound: Compound, args: XdrReader, reply: XdrWriter) => Awaitable<void>;

const NAME_BYTES_MAX = 4096;
export const HANDLE_BYTES_MAX = 128;
export const VERIFIER_BYTES = 8;

export function readName(args: XdrReader): Buffer {
  return args.opaque(NAME_BYTES_MAX);
}

/** Version 4 has an operation for the directory above and no name for it. */
export function checkName4(place: Place, name: Buffer): void {
  checkName(place, name);
  if (isDot(name) || isDotDot(name)) throw new Nfs4Error(Status4.badName);
}

export function writeChangeInfo(reply: XdrWriter, { before, after }: Change): void {
  reply
    .bool(before !== undefined)
    .u64(before?.change ?? 0n)
    .u64(after.change);
}

/** A directory to look for names in; what is wrong if it is none. */
export async function mustBeDirectory(place: Place): Promise<void> {
  const { type } = await place.filesystem.attributes(place.file);
  if (type === 'symlink') throw new Nfs4Error(Status4.symlink);
  if (type !== 'directory') throw new Nfs4Error(Status4.notDirectory);
}
