import type { AttributeChanges, Attributes, Change, TimeChange, Timestamp } from '../filesystem.ts';
import { XdrError, type XdrReader } from '../xdr/reader.ts';
import type { XdrWriter } from '../xdr/writer.ts';

const TYPES = ['', 'file', 'directory', 'block', 'character', 'symlink', 'socket', 'fifo'] as const;
const MODE_BITS = 0o7777;
const U32_MAX = 0xffff_ffff;

export type FileType3 = (typeof TYPES)[number];

export function typeOfNumber(type: number): FileType3 | undefined {
  return type === 0 ? undefined : TYPES[type];
}

function writeTime(reply: XdrWriter, { seconds, nanoseconds }: Timestamp): void {
  reply.u32(Math.min(Math.max(seconds, 0), U32_MAX)).u32(nanoseconds);
}

export function writeAttributes(reply: XdrWriter, filesystemId: bigint, attributes: Attributes): void {
  const { type, mode, links, uid, gid, sizeBytes, allocatedBytes, device } = attributes;
  reply.u32(TYPES.indexOf(type)).u32(mode).u32(links).u32(uid).u32(gid);
  reply.size(sizeBytes).size(allocatedBytes).u32(device.major).u32(device.minor);
  reply.u64(filesystemId).size(attributes.inode);
  writeTime(reply, attributes.accessed);
  writeTime(reply, attributes.modified);
  writeTime(reply, attributes.changed);
}

export function writePostOp(reply: XdrWriter, filesystemId: bigint, attributes: Attributes | undefined): void {
  reply.optional(attributes, (present) => writeAttributes(reply, filesystemId, present));
}

/** Weak cache consistency: by what it was just before, a client sees whether another client had changed it. */
export function writeChange(
  reply: XdrWriter,
  filesystemId: bigint,
  change: { readonly [Name in keyof Change]?: Change[Name] | undefined },
): void {
  reply.optional(change.before, ({ sizeBytes, modified, changed }) => {
    reply.size(sizeBytes);
    writeTime(reply, modified);
    writeTime(reply, changed);
  });
  writePostOp(reply, filesystemId, change.after);
}

export function readTime(args: XdrReader): Timestamp {
  const [seconds, nanoseconds] = [args.u32(), args.u32()];
  return { seconds, nanoseconds: Math.min(nanoseconds, 999_999_999) };
}

function readTimeChange(args: XdrReader): TimeChange | undefined {
  const how = args.u32();
  if (how > 2) throw new XdrError(`${how} is no way to set a time`);
  return how === 0 ? undefined : how === 1 ? 'now' : readTime(args);
}

export function readAttributeChanges(args: XdrReader): AttributeChanges {
  const mode = args.optional(() => args.u32() & MODE_BITS);
  const uid = args.optional(() => args.u32());
  const gid = args.optional(() => args.u32());
  const sizeBytes = args.optional(() => args.size());
  return { mode, uid, gid, sizeBytes, accessed: readTimeChange(args), modified: readTimeChange(args) };
}
