import { FsError } from '../errors.ts';
import { Filesystem } from '../filesystem.ts';
import type { Credentials } from '../files/access.ts';
import type { AttributeChanges } from '../files/changes.ts';
import type { Attributes, Created, FileType } from '../files/inode.ts';
import { MemoryDevice } from './memory-device.ts';

const MIB = 1024 * 1024;

/** Operations of one user by path, as a program performs them through system calls. */
export class FilesystemSession {
  readonly filesystem: Filesystem;
  readonly credentials: Credentials;

  constructor(filesystem: Filesystem, credentials: Credentials) {
    this.filesystem = filesystem;
    this.credentials = credentials;
  }

  /** The same filesystem for another user. */
  as(uid: number, gid = uid, groups: readonly number[] = []): FilesystemSession {
    return new FilesystemSession(this.filesystem, { uid, gid, groups });
  }

  /** The same user in another filesystem. */
  in(filesystem: Filesystem): FilesystemSession {
    return new FilesystemSession(filesystem, this.credentials);
  }

  async make(path: string, type: FileType = 'file', mode = 0o644, target?: string): Promise<Created> {
    const { directory, name } = await this.#place(path);
    const node = { type, mode, ...(target !== undefined && { target: Buffer.from(target) }) };
    return this.filesystem.create(this.credentials, directory, name, node);
  }

  async mkdir(path: string, mode = 0o755): Promise<Created> {
    return this.make(path, 'directory', mode);
  }

  async symlink(target: string, path: string): Promise<Created> {
    return this.make(path, 'symlink', 0o777, target);
  }

  async link(path: string, to: string): Promise<Created> {
    const { inode } = await this.lstat(path);
    const { directory, name } = await this.#place(to);
    return this.filesystem.link(this.credentials, inode, directory, name);
  }

  async unlink(path: string): Promise<void> {
    const { directory, name } = await this.#place(path);
    await this.filesystem.unlink(this.credentials, directory, name);
  }

  async rmdir(path: string): Promise<void> {
    const { directory, name } = await this.#place(path);
    await this.filesystem.removeDirectory(this.credentials, directory, name);
  }

  async rename(path: string, to: string): Promise<void> {
    await this.filesystem.rename(this.credentials, await this.#place(path), await this.#place(to));
  }

  async stat(path: string): Promise<Attributes> {
    return this.filesystem.resolve(this.credentials, Buffer.from(path));
  }

  async lstat(path: string): Promise<Attributes> {
    return this.filesystem.resolve(this.credentials, Buffer.from(path), { followsLast: false });
  }

  async change(path: string, changes: AttributeChanges): Promise<Attributes> {
    return this.filesystem.setAttributes(this.credentials, (await this.stat(path)).inode, changes);
  }

  async chmod(path: string, mode: number): Promise<Attributes> {
    return this.change(path, { mode });
  }

  async truncate(path: string, size: number): Promise<Attributes> {
    return this.filesystem.setAttributes(this.credentials, (await this.stat(path)).inode, { size });
  }

  async write(path: string, data: Buffer | string, offset = 0): Promise<Attributes> {
    const { inode } = await this.stat(path);
    return this.filesystem.write(this.credentials, inode, offset, Buffer.from(data));
  }

  async read(path: string): Promise<Buffer> {
    const { inode, size } = await this.stat(path);
    const content = Buffer.alloc(size, 0xee);
    await this.filesystem.read(this.credentials, inode, 0, content);
    return content;
  }

  async list(path: string): Promise<string[]> {
    const { inode } = await this.stat(path);
    const { entries } = await this.filesystem.readDirectory(this.credentials, inode, 0, 10_000);
    return entries.map(({ name }) => name.toString()).sort();
  }

  async access(path: string, wanted: number): Promise<number> {
    return this.filesystem.access(this.credentials, (await this.stat(path)).inode, wanted);
  }

  async setXattr(path: string, name: string, value: Buffer | string): Promise<void> {
    const { inode } = await this.stat(path);
    await this.filesystem.xattrs.set(this.credentials, inode, Buffer.from(name), Buffer.from(value));
  }

  async #place(path: string): Promise<{ directory: number; name: Buffer }> {
    const slash = path.lastIndexOf('/');
    const parent = await this.stat(path.slice(0, slash + 1));
    return { directory: parent.inode, name: Buffer.from(path.slice(slash + 1)) };
  }
}

/** The superuser in a new filesystem, and the device below. */
export async function newScene(options: { sizeBytes?: number; random?: () => number } = {}) {
  const device = new MemoryDevice(options.sizeBytes ?? 16 * MIB, options.random ? { random: options.random } : {});
  await Filesystem.format(device);
  const time = { seconds: 1_000_000, nanoseconds: 0 };
  // A clock that always advances.
  const now = () => ({ ...time, nanoseconds: (time.nanoseconds += 1) });
  const filesystem = await Filesystem.mount(device, { now });
  return { device, root: new FilesystemSession(filesystem, { uid: 0, gid: 0, groups: [] }), now };
}

/** The error code of an operation, or `undefined`. */
export async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof FsError) return error.code;
    throw error;
  }
}
