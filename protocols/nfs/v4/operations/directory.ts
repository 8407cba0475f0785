import type { Attributes } from '../../filesystem.ts';
import { moved, type Place } from '../../namespace/namespace.ts';
import type { XdrWriter } from '../../xdr/writer.ts';
import { Attribute } from '../attributes/attribute.ts';
import { Bitmap } from '../attributes/bitmap.ts';
import { isSetOnly, writeAttributes, writeReadError } from '../attributes/encode.ts';
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

interface Listed {
  readonly name: Buffer;
  readonly cookie: bigint;
  readonly attributes: Attributes;
}

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
  let count = 0;
  let isEnd = true;
  for await (const entry of entries(place, cookie)) {
    const start = reply.length;
    reply.bool(true).u64(entry.cookie).opaque(entry.name);
    await writeEntryAttributes(compound, reply, wanted, entry);
    if (reply.length > end) {
      reply.truncate(start);
      isEnd = false;
      break;
    }
    count += 1;
  }
  if (count === 0 && !isEnd) throw new Nfs4Error(Status4.tooSmall);
  reply.bool(false).bool(isEnd);
};

async function* entries({ filesystem, file, as }: Place, after: bigint): AsyncGenerator<Listed> {
  for (let from = after; ;) {
    const { entries: page, isEnd } = await filesystem.readDirectory(as, file, from, BATCH);
    yield* page;
    const last = page[page.length - 1];
    if (isEnd || last === undefined) return;
    from = last.cookie;
  }
}

async function writeEntryAttributes(
  compound: Compound,
  reply: XdrWriter,
  wanted: Bitmap,
  { name, attributes }: Listed,
): Promise<void> {
  const { place, server, minorVersion, call } = compound;
  const start = reply.length;
  try {
    // Above the exports and in `.snapshot` other filesystems are mounted on the entries.
    const found =
      place.kind === 'file'
        ? { place: moved(place, attributes), attributes }
        : await server.namespace.lookup(place, call, name);
    await writeAttributes(reply, server, minorVersion, wanted, found.place, found.attributes);
  } catch (error) {
    const status = status4Of(error);
    if (status === undefined || !wanted.has(Attribute.readError)) throw error;
    reply.truncate(start);
    writeReadError(reply, status);
  }
}
