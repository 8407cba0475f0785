import { Bitmap } from '../v4/attributes/bitmap.ts';
import { Attribute } from '../v4/attributes/attribute.ts';
import { Op } from '../v4/opcodes.ts';
import { XdrReader } from '../xdr/reader.ts';
import { XdrWriter } from '../xdr/writer.ts';

export interface StateId4 {
  readonly sequence: number;
  readonly other: Buffer;
}

export const ANONYMOUS: StateId4 = { sequence: 0, other: Buffer.alloc(12) };
export const CURRENT: StateId4 = { sequence: 1, other: Buffer.alloc(12) };

/** One operation: its number, its arguments, and how to read its result if it succeeds. */
export interface Operation4<T = unknown> {
  readonly op: number;
  readonly write: (args: XdrWriter) => void;
  readonly read: (body: XdrReader) => T;
}

export interface Compound4 {
  readonly status: number;
  /** Numbers and statuses of the operations that were done. */
  readonly done: readonly (readonly [number, number])[];
  readonly results: readonly unknown[];
  /** What is left behind the last result: the body of a failure. */
  readonly rest: XdrReader;
}

const nothing = () => undefined;

function readState(body: XdrReader): StateId4 {
  return { sequence: body.u32(), other: Buffer.from(body.fixed(12)) };
}

function writeState(args: XdrWriter, { sequence, other }: StateId4): void {
  args.u32(sequence).fixed(other);
}

function readChange(body: XdrReader) {
  return { atomic: body.bool(), before: body.u64(), after: body.u64() };
}

export interface Set4 {
  readonly size?: number;
  readonly acl?: readonly (readonly [type: number, flags: number, mask: number, who: string])[];
  readonly mode?: number;
  readonly owner?: string;
  readonly group?: string;
  readonly mtime?: readonly [number, number];
}

export function writeSet4(args: XdrWriter, set: Set4): void {
  const bitmap = new Bitmap();
  const values = new XdrWriter();
  const put = (number: number, write: () => void) => {
    bitmap.add(number);
    write();
  };
  if (set.size !== undefined) put(Attribute.size, () => values.size(set.size!));
  if (set.acl !== undefined) {
    put(Attribute.acl, () =>
      values.array(set.acl!, ([type, flags, mask, who]) => values.u32(type).u32(flags).u32(mask).text(who)),
    );
  }
  if (set.mode !== undefined) put(Attribute.mode, () => values.u32(set.mode!));
  if (set.owner !== undefined) put(Attribute.owner, () => values.text(set.owner!));
  if (set.group !== undefined) put(Attribute.ownerGroup, () => values.text(set.group!));
  if (set.mtime !== undefined) put(Attribute.setModified, () => values.u32(1).size(set.mtime![0]).u32(set.mtime![1]));
  bitmap.write(args);
  args.opaque(values.bytes);
}

export interface Opened4 {
  readonly state: StateId4;
  readonly flags: number;
  readonly set: readonly number[];
}

export interface OpenOptions {
  readonly name?: string;
  readonly access?: number;
  readonly deny?: number;
  readonly owner?: string;
  readonly clientId?: bigint;
  readonly sequence?: number;
  readonly create?: 'unchecked' | 'guarded' | Buffer;
  readonly set?: Set4;
  readonly claim?: 'name' | 'previous' | 'handle';
}

export interface LockOptions {
  readonly exclusive?: boolean;
  readonly reclaim?: boolean;
  readonly offset?: bigint;
  readonly length?: bigint;
  readonly open?: { readonly state: StateId4; readonly sequence?: number; readonly owner?: string; clientId?: bigint };
  readonly state?: StateId4;
  readonly sequence?: number;
}

/** Attribute values as bytes, to be read by who asked for them. */
export interface Attributes4 {
  readonly numbers: readonly number[];
  readonly values: XdrReader;
}

export const ops = {
  raw: (op: number, write: (args: XdrWriter) => void = nothing): Operation4 => ({ op, write, read: nothing }),
  putRoot: (): Operation4 => ({ op: Op.putRootFileHandle, write: nothing, read: nothing }),
  put: (handle: Buffer): Operation4 => ({ op: Op.putFileHandle, write: (args) => args.opaque(handle), read: nothing }),
  get: () => ({ op: Op.getFileHandle, write: nothing, read: (body: XdrReader) => Buffer.from(body.opaque(128)) }),
  lookup: (name: string): Operation4 => ({ op: Op.lookup, write: (args) => args.text(name), read: nothing }),
  parent: (): Operation4 => ({ op: Op.lookupParent, write: nothing, read: nothing }),
  save: (): Operation4 => ({ op: Op.saveFileHandle, write: nothing, read: nothing }),
  restore: (): Operation4 => ({ op: Op.restoreFileHandle, write: nothing, read: nothing }),
  access: (wanted: number) => ({
    op: Op.access,
    write: (args: XdrWriter) => args.u32(wanted),
    read: (body: XdrReader) => ({ supported: body.u32(), granted: body.u32() }),
  }),
  getattr: (...numbers: number[]) => ({
    op: Op.getAttributes,
    write: (args: XdrWriter) => Bitmap.of(numbers).write(args),
    read: readAttributes,
  }),
  setattr: (state: StateId4, set: Set4) => ({
    op: Op.setAttributes,
    write: (args: XdrWriter) => {
      writeState(args, state);
      writeSet4(args, set);
    },
    read: (body: XdrReader) => Bitmap.read(body).numbers(),
  }),
  verify: (set: Set4, not = false): Operation4 => ({
    op: not ? Op.verifyNot : Op.verify,
    write: (args) => writeSet4(args, set),
    read: nothing,
  }),
  mkdir: (name: string, set: Set4 = {}) => ({
    op: Op.create,
    write: (args: XdrWriter) => writeSet4(args.u32(2).text(name), set),
    read: (body: XdrReader) => ({ change: readChange(body), set: Bitmap.read(body).numbers() }),
  }),
  symlink: (name: string, target: string) => ({
    op: Op.create,
    write: (args: XdrWriter) => writeSet4(args.u32(5).text(target).text(name), {}),
    read: (body: XdrReader) => ({ change: readChange(body), set: Bitmap.read(body).numbers() }),
  }),
  remove: (name: string) => ({ op: Op.remove, write: (args: XdrWriter) => args.text(name), read: readChange }),
  rename: (from: string, to: string) => ({
    op: Op.rename,
    write: (args: XdrWriter) => args.text(from).text(to),
    read: (body: XdrReader) => [readChange(body), readChange(body)],
  }),
  link: (name: string) => ({ op: Op.link, write: (args: XdrWriter) => args.text(name), read: readChange }),
  readlink: () => ({ op: Op.readLink, write: nothing, read: (body: XdrReader) => body.text(5000) }),
  read: (state: StateId4, offset: number, count: number) => ({
    op: Op.read,
    write: (args: XdrWriter) => {
      writeState(args, state);
      args.size(offset).u32(count);
    },
    read: (body: XdrReader) => ({ eof: body.bool(), data: Buffer.from(body.opaque(4_000_000)) }),
  }),
  write: (state: StateId4, offset: number, data: Buffer, stable = 2) => ({
    op: Op.write,
    write: (args: XdrWriter) => {
      writeState(args, state);
      args.size(offset).u32(stable).opaque(data);
    },
    read: (body: XdrReader) => ({ count: body.u32(), committed: body.u32(), verifier: body.u64() }),
  }),
  commit: () => ({
    op: Op.commit,
    write: (args: XdrWriter) => args.u64(0n).u32(0),
    read: (body: XdrReader) => body.u64(),
  }),
  readdir: (cookie: bigint, bytes: number, ...numbers: number[]) => ({
    op: Op.readDirectory,
    write: (args: XdrWriter) => {
      args.u64(cookie).u64(0n).u32(bytes).u32(bytes);
      Bitmap.of(numbers).write(args);
    },
    read: (body: XdrReader) => {
      body.u64();
      const entries: { cookie: bigint; name: string; attributes: Attributes4 }[] = [];
      while (body.bool()) {
        entries.push({ cookie: body.u64(), name: body.text(1000), attributes: readAttributes(body) });
      }
      return { entries, eof: body.bool() };
    },
  }),
  open: (options: OpenOptions) => ({
    op: Op.open,
    write: (args: XdrWriter) => writeOpen(args, options),
    read: (body: XdrReader): Opened4 => {
      const state = readState(body);
      readChange(body);
      const [flags, set] = [body.u32(), Bitmap.read(body).numbers()];
      if (body.u32() !== 0) throw new Error('a delegation');
      return { state, flags, set };
    },
  }),
  confirm: (state: StateId4, sequence: number) => ({
    op: Op.openConfirm,
    write: (args: XdrWriter) => {
      writeState(args, state);
      args.u32(sequence);
    },
    read: readState,
  }),
  downgrade: (state: StateId4, access: number, deny: number, sequence = 0) => ({
    op: Op.openDowngrade,
    write: (args: XdrWriter) => {
      writeState(args, state);
      args.u32(sequence).u32(access).u32(deny);
    },
    read: readState,
  }),
  close: (state: StateId4, sequence = 0) => ({
    op: Op.close,
    write: (args: XdrWriter) => writeState(args.u32(sequence), state),
    read: readState,
  }),
  lock: (options: LockOptions) => ({
    op: Op.lock,
    write: (args: XdrWriter) => writeLock(args, options),
    read: readState,
  }),
  lockt: (exclusive: boolean, offset: bigint, length: bigint, clientId: bigint, owner: string): Operation4 => ({
    op: Op.lockTest,
    write: (args) => {
      args
        .u32(exclusive ? 2 : 1)
        .u64(offset)
        .u64(length)
        .u64(clientId)
        .text(owner);
    },
    read: nothing,
  }),
  unlock: (state: StateId4, offset: bigint, length: bigint, sequence = 0) => ({
    op: Op.unlock,
    write: (args: XdrWriter) => {
      writeState(args.u32(1).u32(sequence), state);
      args.u64(offset).u64(length);
    },
    read: readState,
  }),
};

function readAttributes(body: XdrReader): Attributes4 {
  const numbers = Bitmap.read(body).numbers();
  const bytes = Buffer.from(body.opaque(100_000));
  return { numbers, values: new XdrReader(bytes) };
}

function writeOpen(args: XdrWriter, options: OpenOptions): void {
  const { name = '', access = 3, deny = 0, owner = 'owner', clientId = 0n, sequence = 0, create, set = {} } = options;
  args.u32(sequence).u32(access).u32(deny).u64(clientId).text(owner);
  if (create === undefined) args.u32(0);
  else if (Buffer.isBuffer(create)) args.u32(1).u32(2).fixed(create);
  else writeSet4(args.u32(1).u32(create === 'guarded' ? 1 : 0), set);
  const { claim = 'name' } = options;
  if (claim === 'name') args.u32(0).text(name);
  else if (claim === 'previous') args.u32(1).u32(0);
  else args.u32(4);
}

function writeLock(args: XdrWriter, options: LockOptions): void {
  const { exclusive = true, reclaim = false, offset = 0n, length = 10n, open, state, sequence = 0 } = options;
  args
    .u32(exclusive ? 2 : 1)
    .bool(reclaim)
    .u64(offset)
    .u64(length)
    .bool(open !== undefined);
  if (open !== undefined) {
    writeState(args.u32(open.sequence ?? 0), open.state);
    args
      .u32(sequence)
      .u64(open.clientId ?? 0n)
      .text(open.owner ?? 'locker');
  } else {
    writeState(args, state!);
    args.u32(sequence);
  }
}

export function writeCompound(args: XdrWriter, minorVersion: number, operations: readonly Operation4[]): void {
  args.text('test').u32(minorVersion).u32(operations.length);
  for (const { op, write } of operations) write(args.u32(op));
}

export function readCompound(body: XdrReader, operations: readonly Operation4[]): Compound4 {
  const status = body.u32();
  body.text(1000);
  const count = body.u32();
  const done: [number, number][] = [];
  const results: unknown[] = [];
  for (let index = 0; index < count; index++) {
    const [op, result] = [body.u32(), body.u32()];
    done.push([op, result]);
    if (result === 0) results.push(operations[index]!.read(body));
  }
  return { status, done, results, rest: body };
}
