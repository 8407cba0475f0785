import type { Awaitable, DirectoryEntry, DirectoryPage } from '../../filesystem.ts';
import { moved } from '../../namespace/namespace.ts';
import type { XdrWriter } from '../../xdr/writer.ts';
import { Attribute } from '../attributes/attribute.ts';
import { Bitmap } from '../attributes/bitmap.ts';
import { isSetOnly, selectAttributes, type Selection, writeAttributes, writeReadError } from '../attributes/encode.ts';
import type { Compound } from '../compound.ts';
import { Nfs4Error, Status4, status4Of } from '../status.ts';
import { mustBeDirectory, VERIFIER_BYTES, type Operation } from './operation.ts';

const VERIFIER = Buffer.alloc(VERIFIER_BYTES);
const BATCH = 128;
/** Verifier, the end of the list and whether it is all. */
const RESULT_BYTES = VERIFIER_BYTES + 8;
/** Cookies that were never given out. */
const RESERVED_COOKIES = [1n, 2n];
const REPLY_OVERHEAD_BYTES = 1024;

export const readDirectory: Operation = async (compound, args, reply) => {
  const { place, server, session } = compound;
  const [cookie, verifier] = [args.u64(), args.fixed(VERIFIER_BYTES)];
  args.u32();
  const [bytes, wanted] = [args.u32(), Bitmap.read(args)];
  await mustBeDirectory(place);
  if (wanted.numbers().some(isSetOnly)) throw new Nfs4Error(Status4.invalid);
  const isOurs = cookie === 0n || (verifier.equals(VERIFIER) && !RESERVED_COOKIES.includes(cookie));
  if (!isOurs) throw new Nfs4Error(Status4.badCookie);
  const room = (session?.limits.replyBytesMax ?? Infinity) - REPLY_OVERHEAD_BYTES;
  const left = Math.min(bytes, server.limits.directoryBytesMax, room) - RESULT_BYTES;
  reply.fixed(VERIFIER);
  const end = reply.length + left;
  const selection = selectAttributes(wanted, compound.minorVersion);
  let count = 0;
  let isFull = false;
  for (let after: bigint | undefined = cookie; after !== undefined && !isFull;) {
    const page: DirectoryPage = await place.filesystem.readDirectory(place.as, place.file, after, BATCH);
    for (const entry of page.entries) {
      const start = reply.length;
      reply.bool(true).u64(entry.cookie).opaque(entry.name);
      const written = writeEntryAttributes(compound, reply, selection, entry);
      if (written instanceof Promise) await written;
      isFull = reply.length > end;
      if (isFull) {
        reply.truncate(start);
        break;
      }
      count += 1;
    }
    after = page.isEnd ? undefined : page.entries.at(-1)?.cookie;
  }
  if (count === 0 && isFull) throw new Nfs4Error(Status4.tooSmall);
  reply.bool(false).bool(!isFull);
};

/** Done at once where the attributes are at hand. */
function writeEntryAttributes(
  compound: Compound,
  reply: XdrWriter,
  selection: Selection,
  { name, attributes }: DirectoryEntry,
): Awaitable<void> {
  const { place, server, call } = compound;
  const start = reply.length;
  const fail = (error: unknown): void => {
    const status = status4Of(error);
    if (status === undefined || !selection.written.has(Attribute.readError)) throw error;
    reply.truncate(start);
    writeReadError(reply, status);
  };
  try {
    const written =
      place.kind === 'file'
        ? writeAttributes(reply, server, selection, moved(place, attributes), attributes)
        : // Above the exports and in `.snapshot` other filesystems are mounted on the entries.
          server.namespace
            .lookup(place, call, name)
            .then((found) => writeAttributes(reply, server, selection, found.place, found.attributes));
    return written instanceof Promise ? written.catch(fail) : undefined;
  } catch (error) {
    fail(error);
    return undefined;
  }
}
