import type { XdrReader } from '../xdr/reader.ts';
import type { XdrWriter } from '../xdr/writer.ts';
import type { RpcClient } from './rpc-client.ts';

const NFS = 100003;
const MOUNT = 100005;

export const Proc3 = {
  getattr: 1,
  setattr: 2,
  lookup: 3,
  access: 4,
  readlink: 5,
  read: 6,
  write: 7,
  create: 8,
  mkdir: 9,
  symlink: 10,
  mknod: 11,
  remove: 12,
  rmdir: 13,
  rename: 14,
  link: 15,
  readdir: 16,
  readdirplus: 17,
  fsstat: 18,
  fsinfo: 19,
  pathconf: 20,
  commit: 21,
} as const;

export interface Attributes3 {
  readonly type: number;
  readonly mode: number;
  readonly links: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  readonly fsid: bigint;
  readonly fileid: number;
  readonly mtime: string;
  readonly ctime: string;
  readonly atime: string;
}

export interface Wcc {
  readonly before: { readonly size: number; readonly mtime: string; readonly ctime: string } | undefined;
  readonly after: Attributes3 | undefined;
}

export interface SetAttributes3 {
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
  readonly size?: number;
  readonly atime?: 'now' | readonly [number, number];
  readonly mtime?: 'now' | readonly [number, number];
}

export interface Created3 {
  readonly status: number;
  readonly handle: Buffer;
  readonly attributes: Attributes3 | undefined;
  readonly wcc: Wcc;
}

function time(reader: XdrReader): string {
  return `${reader.u32()}.${reader.u32()}`;
}

function readAttributes3(reader: XdrReader): Attributes3 {
  const [type, mode, links, uid, gid] = [reader.u32(), reader.u32(), reader.u32(), reader.u32(), reader.u32()];
  const size = reader.size();
  reader.size();
  reader.u64();
  const [fsid, fileid] = [reader.u64(), reader.size()];
  const [atime, mtime, ctime] = [time(reader), time(reader), time(reader)];
  return { type, mode, links, uid, gid, size, fsid, fileid, atime, mtime, ctime };
}

function readWcc(reader: XdrReader): Wcc {
  const before = reader.optional(() => ({ size: reader.size(), mtime: time(reader), ctime: time(reader) }));
  return { before, after: reader.optional(readAttributes3) };
}

export function writeSet3(args: XdrWriter, set: SetAttributes3): void {
  for (const value of [set.mode, set.uid, set.gid]) args.optional(value, (present) => args.u32(present));
  args.optional(set.size, (size) => args.size(size));
  for (const value of [set.atime, set.mtime]) {
    if (value === undefined) args.u32(0);
    else if (value === 'now') args.u32(1);
    else args.u32(2).u32(value[0]).u32(value[1]);
  }
}

/** A client of version 3 with a mounted root. */
export class Client3 {
  readonly rpc: RpcClient;
  readonly root: Buffer;

  constructor(rpc: RpcClient, root: Buffer) {
    this.rpc = rpc;
    this.root = root;
  }

  static async mount(rpc: RpcClient, path: string): Promise<Client3> {
    const body = await rpc.request(MOUNT, 3, 1, (args) => args.text(path));
    const status = body.u32();
    if (status !== 0) throw new Error(`MNT failed with ${status}`);
    return new Client3(rpc, Buffer.from(body.opaque(64)));
  }

  call(procedure: number, write: (args: XdrWriter) => void): Promise<XdrReader> {
    return this.rpc.request(NFS, 3, procedure, write);
  }

  async getattr(handle: Buffer): Promise<{ status: number; attributes?: Attributes3 }> {
    const body = await this.call(Proc3.getattr, (args) => args.opaque(handle));
    const status = body.u32();
    return status === 0 ? { status, attributes: readAttributes3(body) } : { status };
  }

  async setattr(handle: Buffer, set: SetAttributes3, guard?: string): Promise<{ status: number; wcc: Wcc }> {
    const body = await this.call(Proc3.setattr, (args) => {
      writeSet3(args.opaque(handle), set);
      args.optional(guard?.split('.').map(Number), ([seconds = 0, nanos = 0]) => args.u32(seconds).u32(nanos));
    });
    return { status: body.u32(), wcc: readWcc(body) };
  }

  async lookup(directory: Buffer, name: string | Buffer) {
    const body = await this.call(Proc3.lookup, (args) => args.opaque(directory).opaque(Buffer.from(name)));
    const status = body.u32();
    if (status !== 0) return { status, handle: Buffer.alloc(0), directory: body.optional(readAttributes3) };
    const handle = Buffer.from(body.opaque(64));
    return { status, handle, attributes: body.optional(readAttributes3), directory: body.optional(readAttributes3) };
  }

  async access(handle: Buffer, wanted: number): Promise<number> {
    const body = await this.call(Proc3.access, (args) => args.opaque(handle).u32(wanted));
    const status = body.u32();
    if (status !== 0) throw new Error(`ACCESS failed with ${status}`);
    body.optional(readAttributes3);
    return body.u32();
  }

  async readlink(handle: Buffer) {
    const body = await this.call(Proc3.readlink, (args) => args.opaque(handle));
    const [status, attributes] = [body.u32(), body.optional(readAttributes3)];
    return { status, attributes, target: status === 0 ? body.text(10_000) : '' };
  }

  async read(handle: Buffer, offset: number, count: number) {
    const body = await this.call(Proc3.read, (args) => args.opaque(handle).size(offset).u32(count));
    const [status, attributes] = [body.u32(), body.optional(readAttributes3)];
    if (status !== 0) return { status, attributes, data: Buffer.alloc(0), eof: false };
    const [length, eof, data] = [body.u32(), body.bool(), Buffer.from(body.opaque(4_000_000))];
    if (length !== data.length) throw new Error('the count is not that of the data');
    return { status, attributes, data, eof };
  }

  async write(handle: Buffer, offset: number, data: Buffer, stable = 2) {
    const body = await this.call(Proc3.write, (args) => {
      args.opaque(handle).size(offset).u32(data.length).u32(stable).opaque(data);
    });
    const [status, wcc] = [body.u32(), readWcc(body)];
    if (status !== 0) return { status, wcc, count: 0, committed: 0, verifier: 0n };
    return { status, wcc, count: body.u32(), committed: body.u32(), verifier: body.u64() };
  }

  async commit(handle: Buffer) {
    const body = await this.call(Proc3.commit, (args) => args.opaque(handle).u64(0n).u32(0));
    const [status, wcc] = [body.u32(), readWcc(body)];
    return { status, wcc, verifier: status === 0 ? body.u64() : 0n };
  }

  async create(directory: Buffer, name: string | Buffer, how: SetAttributes3 | Buffer = {}, guarded = false) {
    return this.#created(Proc3.create, (args) => {
      args.opaque(directory).opaque(Buffer.from(name));
      if (Buffer.isBuffer(how)) args.u32(2).fixed(how);
      else writeSet3(args.u32(guarded ? 1 : 0), how);
    });
  }

  async mkdir(directory: Buffer, name: string | Buffer, set: SetAttributes3 = { mode: 0o755 }) {
    return this.#created(Proc3.mkdir, (args) => writeSet3(args.opaque(directory).opaque(Buffer.from(name)), set));
  }

  async symlink(directory: Buffer, name: string, target: string) {
    return this.#created(Proc3.symlink, (args) => {
      writeSet3(args.opaque(directory).text(name), {});
      args.text(target);
    });
  }

  async mknod(directory: Buffer, name: string, type: number, device: readonly [number, number] = [0, 0]) {
    return this.#created(Proc3.mknod, (args) => {
      args.opaque(directory).text(name).u32(type);
      if (type === 3 || type === 4 || type === 6 || type === 7) writeSet3(args, { mode: 0o600 });
      if (type === 3 || type === 4) args.u32(device[0]).u32(device[1]);
    });
  }

  async #created(procedure: number, write: (args: XdrWriter) => void): Promise<Created3> {
    const body = await this.call(procedure, write);
    const status = body.u32();
    if (status !== 0) return { status, handle: Buffer.alloc(0), attributes: undefined, wcc: readWcc(body) };
    const handle = body.optional(() => Buffer.from(body.opaque(64))) ?? Buffer.alloc(0);
    return { status, handle, attributes: body.optional(readAttributes3), wcc: readWcc(body) };
  }

  async remove(directory: Buffer, name: string | Buffer, procedure: number = Proc3.remove) {
    const body = await this.call(procedure, (args) => args.opaque(directory).opaque(Buffer.from(name)));
    return { status: body.u32(), wcc: readWcc(body) };
  }

  rmdir(directory: Buffer, name: string) {
    return this.remove(directory, name, Proc3.rmdir);
  }

  async rename(from: Buffer, oldName: string, to: Buffer, newName: string) {
    const body = await this.call(Proc3.rename, (args) => args.opaque(from).text(oldName).opaque(to).text(newName));
    return { status: body.u32(), from: readWcc(body), to: readWcc(body) };
  }

  async link(handle: Buffer, directory: Buffer, name: string) {
    const body = await this.call(Proc3.link, (args) => args.opaque(handle).opaque(directory).text(name));
    return { status: body.u32(), attributes: body.optional(readAttributes3), wcc: readWcc(body) };
  }

  async readdir(directory: Buffer, cookie = 0n, count = 4096, plus = false, verifier = Buffer.alloc(8)) {
    const body = await this.call(plus ? Proc3.readdirplus : Proc3.readdir, (args) => {
      args.opaque(directory).u64(cookie).fixed(verifier);
      if (plus) args.u32(count).u32(count);
      else args.u32(count);
    });
    const size = body.remaining;
    const status = body.u32();
    body.optional(readAttributes3);
    const entries: { fileid: number; name: Buffer; cookie: bigint; attributes?: Attributes3; handle?: Buffer }[] = [];
    if (status !== 0) return { status, entries, eof: false, size };
    body.fixed(8);
    while (body.bool()) {
      const entry = { fileid: body.size(), name: Buffer.from(body.opaque(1000)), cookie: body.u64() };
      if (!plus) entries.push(entry);
      else {
        const attributes = body.optional(readAttributes3)!;
        entries.push({ ...entry, attributes, handle: body.optional(() => Buffer.from(body.opaque(64)))! });
      }
    }
    return { status, entries, eof: body.bool(), size };
  }

  /** All names, listed with small replies, without `.` and `..`. */
  async names(directory: Buffer, count = 4096, plus = false): Promise<string[]> {
    const names: string[] = [];
    for (let cookie = 0n; ;) {
      const { status, entries, eof } = await this.readdir(directory, cookie, count, plus);
      if (status !== 0) throw new Error(`READDIR failed with ${status}`);
      names.push(...entries.map(({ name }) => name.toString()).filter((name) => name !== '.' && name !== '..'));
      if (eof) return names;
      cookie = entries[entries.length - 1]!.cookie;
    }
  }
}
