import type { NfsEvent } from '../events.ts';
import { FileError } from '../filesystem.ts';
import type { Limits } from '../limits.ts';
import type { Namespace, Place } from '../namespace/namespace.ts';
import { AuthFlavor } from '../rpc/message.ts';
import { NoSuchProcedure, type Call, type Replay, type RpcProgram } from '../rpc/program.ts';
import type { XdrReader } from '../xdr/reader.ts';
import type { XdrWriter } from '../xdr/writer.ts';
import { Status3, status3Of } from '../v3/status.ts';

const PROGRAM = 100005;
const PATH_BYTES_MAX = 1024;
const Procedure = { mount: 1, dump: 2, unmount: 3, unmountAll: 4, exports: 5 } as const;

interface MountEntry {
  readonly address: string;
  readonly path: string;
}

/** MOUNT version 3: gives version 3 the file handle it begins with. Its list of mounts is for people to look at. */
export class MountProgram implements RpcProgram {
  readonly program = PROGRAM;
  readonly versions = [3];
  readonly #namespace: Namespace;
  readonly #limits: Limits;
  readonly #report: (event: NfsEvent) => void;
  readonly #mounts = new Map<string, MountEntry>();

  constructor(namespace: Namespace, limits: Limits, report: (event: NfsEvent) => void) {
    this.#namespace = namespace;
    this.#limits = limits;
    this.#report = report;
  }

  replay(): Replay {
    return 'never';
  }

  async call(call: Call, args: XdrReader, reply: XdrWriter): Promise<void> {
    const { address, procedure } = call;
    if (procedure === Procedure.mount) await this.#mount(call, args.text(PATH_BYTES_MAX), reply);
    else if (procedure === Procedure.dump) this.#dump(address, reply);
    else if (procedure === Procedure.unmount) this.#unmount(address, args.text(PATH_BYTES_MAX));
    else if (procedure === Procedure.unmountAll) this.#unmountAll(address);
    else if (procedure === Procedure.exports) this.#exports(call, reply);
    else throw new NoSuchProcedure();
  }

  async #mount(call: Call, path: string, reply: XdrWriter): Promise<void> {
    const { address } = call;
    try {
      const place = await this.#find(call, path);
      this.#remember({ address, path });
      this.#report({ type: 'mounted', address, path });
      reply.u32(Status3.ok).opaque(this.#namespace.handle(place));
      reply.array([AuthFlavor.sys, AuthFlavor.none], (flavor) => reply.u32(flavor));
    } catch (error) {
      const status = status3Of(error);
      if (status === undefined) throw error;
      this.#report({ type: 'mount-refused', address, path, reason: (error as Error).message });
      reply.u32(status);
    }
  }

  async #find(call: Call, path: string): Promise<Place> {
    const found = this.#namespace.exports.byPath(path);
    if (found === undefined) throw new FileError('ENOENT', 'there is no such export');
    let place = await this.#namespace.rootOf(found.export, call);
    for (const name of found.below) {
      if (name === '.' || name === '..') throw new FileError('EINVAL');
      const next = await this.#namespace.lookup(place, call, Buffer.from(name));
      if (next.attributes.type !== 'directory') throw new FileError('ENOTDIR');
      place = next.place;
    }
    return place;
  }

  #remember(entry: MountEntry): void {
    const key = `${entry.address} ${entry.path}`;
    this.#mounts.delete(key);
    this.#mounts.set(key, entry);
    const [oldest] = this.#mounts.keys();
    if (this.#mounts.size > this.#limits.mountEntriesMax && oldest !== undefined) this.#mounts.delete(oldest);
  }

  #unmount(address: string, path: string): void {
    if (this.#mounts.delete(`${address} ${path}`)) this.#report({ type: 'unmounted', address, path });
  }

  #unmountAll(address: string): void {
    for (const entry of [...this.#mounts.values()]) if (entry.address === address) this.#unmount(address, entry.path);
  }

  /** Only its own: a client does not see what others have mounted. */
  #dump(address: string, reply: XdrWriter): void {
    for (const entry of this.#mounts.values()) {
      if (entry.address === address) reply.bool(true).text(address).text(entry.path);
    }
    reply.bool(false);
  }

  /** Only what this client may mount. */
  #exports({ address }: Call, reply: XdrWriter): void {
    for (const { path } of this.#namespace.exports.visibleTo(address)) reply.bool(true).text(path).bool(false);
    reply.bool(false);
  }
}
