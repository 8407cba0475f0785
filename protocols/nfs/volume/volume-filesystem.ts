import { randomBytes } from 'node:crypto';
import {
  ACL_NAMES,
  encodeAcl,
  parseAcl,
  type Filesystem as StorageFilesystem,
  type Attributes as StoredAttributes,
} from '@granary/storage/filesystem';
import {
  fileErrorCode,
  type Acl,
  type AclEntry,
  type AttributeChanges,
  type Attributes,
  type Awaitable,
  type Change,
  type Created,
  type Credentials,
  type DirectoryEntry,
  type DirectoryPage,
  type FileId,
  type Filesystem,
  type NewFile,
  type QuotaState,
  type SpaceUsage,
} from '../filesystem.ts';

const ALL = 7;
const SUPERUSER: Credentials = { uid: 0, gid: 0, groups: [] };
const OPEN = { isOpen: true } as const;
const QUOTA_SCOPES = ['user', 'group', 'project'] as const;

/**
 * A filesystem on a volume as NFS asks for it. What it cannot do in one step is noted where it happens: attributes of a
 * new file beyond its mode are a second transaction, and what was before a change is known only if nobody else has
 * changed the same file meanwhile.
 */
export class VolumeFilesystem implements Filesystem {
  readonly id: bigint;
  readonly root: FileId;
  readonly limits = { nameBytesMax: 255, fileBytesMax: 2 ** 44, linksMax: 65_000, symlinkBytesMax: 4095 };
  /** Of this mount: what was not committed is lost with it. */
  readonly writeVerifier = randomBytes(8).readBigUInt64BE();
  readonly #inner: StorageFilesystem;

  constructor(inner: StorageFilesystem, root: FileId) {
    this.#inner = inner;
    this.id = inner.uuid.readBigUInt64BE(0) || 1n;
    this.root = root;
  }

  static async of(inner: StorageFilesystem): Promise<VolumeFilesystem> {
    const { inode, generation } = await inner.attributes(inner.root);
    return new VolumeFilesystem(inner, { inode, generation });
  }

  attributes({ inode, generation }: FileId): Awaitable<Attributes> {
    const found = this.#inner.attributes(inode, generation);
    return found instanceof Promise ? found.then(attributesOf) : attributesOf(found);
  }

  async access(as: Credentials, file: FileId): Promise<number> {
    await this.attributes(file);
    return this.#inner.access(as, file.inode, ALL);
  }

  async setAttributes(as: Credentials, file: FileId, changes: AttributeChanges): Promise<Change> {
    const { sizeBytes, ...others } = changes;
    return this.#changing(file, async () => {
      if (sizeBytes !== undefined) await this.#inner.setSize(as, file.inode, sizeBytes, OPEN);
      const wanted = defined(others);
      if (Object.keys(wanted).length > 0) await this.#inner.setAttributes(as, file.inode, wanted);
    });
  }

  async lookup(as: Credentials, directory: FileId, name: Buffer): Promise<Attributes> {
    await this.attributes(directory);
    return attributesOf(await this.#inner.lookup(as, directory.inode, name));
  }

  async create(
    as: Credentials,
    directory: FileId,
    name: Buffer,
    file: NewFile,
    { mode = 0o644, sizeBytes, ...others }: AttributeChanges,
  ): Promise<Created> {
    let made: StoredAttributes | undefined;
    const change = await this.#changing(directory, async () => {
      const node = { ...file, mode };
      made = await this.#inner.create(as, directory.inode, name, node);
      const wanted = defined(others);
      if (Object.keys(wanted).length > 0) made = await this.#inner.setAttributes(as, made.inode, wanted);
      if (sizeBytes !== undefined && sizeBytes > 0) {
        made = await this.#inner.setSize(as, made.inode, sizeBytes, OPEN);
      }
    });
    return { attributes: attributesOf(made as StoredAttributes), directory: change };
  }

  async link(as: Credentials, file: FileId, directory: FileId, name: Buffer): Promise<Created> {
    let linked: StoredAttributes | undefined;
    await this.attributes(file);
    const change = await this.#changing(directory, async () => {
      linked = await this.#inner.link(as, file.inode, directory.inode, name);
    });
    return { attributes: attributesOf(linked as StoredAttributes), directory: change };
  }

  async remove(
    as: Credentials,
    directory: FileId,
    name: Buffer,
    what: 'file' | 'directory' | 'either',
  ): Promise<Change> {
    return this.#changing(directory, async () => {
      const isDirectory =
        what === 'directory' ||
        (what === 'either' && (await this.#inner.lookup(as, directory.inode, name)).type === 'directory');
      if (isDirectory) await this.#inner.removeDirectory(as, directory.inode, name);
      else await this.#inner.unlink(as, directory.inode, name);
    });
  }

  async rename(
    as: Credentials,
    from: FileId,
    oldName: Buffer,
    to: FileId,
    newName: Buffer,
  ): Promise<{ from: Change; to: Change }> {
    const beforeTo = await this.attributes(to);
    const change = await this.#changing(from, async () => {
      const source = { directory: from.inode, name: oldName };
      await this.#inner.rename(as, source, { directory: to.inode, name: newName });
    });
    if (from.inode === to.inode) return { from: change, to: change };
    return { from: change, to: changeOf(beforeTo, await this.attributes(to)) };
  }

  async readDirectory(as: Credentials, directory: FileId, after: bigint, count: number): Promise<DirectoryPage> {
    await this.attributes(directory);
    if (after > BigInt(Number.MAX_SAFE_INTEGER)) return { entries: [], isEnd: true };
    const page = await this.#inner.readDirectory(as, directory.inode, Number(after), count);
    const entries: DirectoryEntry[] = [];
    for (const { name, inode, cookie } of page.entries) {
      try {
        const found = this.#inner.attributes(inode);
        const attributes = attributesOf(found instanceof Promise ? await found : found);
        entries.push({ name, cookie: BigInt(cookie), attributes });
      } catch (error) {
        // Removed since the page was read.
        if (fileErrorCode(error) !== 'ESTALE') throw error;
      }
    }
    return { entries, isEnd: page.isEnd };
  }

  async readSymlink(file: FileId): Promise<Buffer> {
    await this.attributes(file);
    return this.#inner.readLink(file.inode);
  }

  async read(as: Credentials, file: FileId, offset: number, into: Buffer): Promise<number> {
    return (await this.#inner.read(as, file.inode, offset, into, OPEN)).bytes;
  }

  async write(as: Credentials, file: FileId, offset: number, data: Buffer, durable: boolean): Promise<Change> {
    return this.#changing(file, async () => {
      await this.#inner.write(as, file.inode, offset, data, OPEN);
      if (durable) await this.#inner.commit();
    });
  }

  commit(): Promise<void> {
    return this.#inner.commit();
  }

  async hold(_as: Credentials, file: FileId): Promise<void> {
    await this.attributes(file);
    this.#inner.open(file.inode);
  }

  release(_as: Credentials, file: FileId): Promise<void> {
    return this.#inner.close(file.inode);
  }

  space(): SpaceUsage {
    const { totalBytes, freeBytes, availableBytes, inodes } = this.#inner.statistics();
    const freeFiles = Math.floor(availableBytes / 4096);
    return { totalBytes, freeBytes, availableBytes, totalFiles: inodes + freeFiles, freeFiles };
  }

  async quota(_as: Credentials, file: FileId): Promise<QuotaState | undefined> {
    const { uid, gid, project } = await this.#inner.attributes(file.inode, file.generation);
    const state = await this.#inner.quotas.state();
    let tightest: QuotaState | undefined;
    for (const scope of QUOTA_SCOPES) {
      if (!state[scope]) continue;
      const id = { user: uid, group: gid, project }[scope];
      const { usedBytes, limitBytes } = await this.#inner.quotas.get(scope, id);
      const left = limitBytes === undefined ? Infinity : Math.max(0, limitBytes - usedBytes);
      if (left < (tightest?.hardBytes ?? Infinity)) tightest = { usedBytes, softBytes: left, hardBytes: left };
    }
    return tightest;
  }

  async acl(file: FileId): Promise<Acl> {
    await this.attributes(file);
    return { access: await this.#readAcl(file, 'access'), default: await this.#readAcl(file, 'default') };
  }

  async #readAcl(file: FileId, kind: 'access' | 'default'): Promise<readonly AclEntry[]> {
    try {
      return parseAcl(await this.#inner.xattrs.get(SUPERUSER, file.inode, ACL_NAMES[kind]));
    } catch (error) {
      if (fileErrorCode(error) === 'ENODATA') return [];
      throw error;
    }
  }

  async setAcl(as: Credentials, file: FileId, acl: Partial<Acl>): Promise<Change> {
    return this.#changing(file, async () => {
      for (const kind of ['access', 'default'] as const) {
        const entries = acl[kind];
        if (entries === undefined) continue;
        if (entries.length > 0) {
          const value = encodeAcl(entries.map((entry) => ({ ...entry, id: entry.id ?? 0 })));
          await this.#inner.xattrs.set(as, file.inode, ACL_NAMES[kind], value);
        } else {
          await this.#inner.xattrs.remove(as, file.inode, ACL_NAMES[kind]).catch((error: unknown) => {
            if (fileErrorCode(error) !== 'ENODATA') throw error;
          });
        }
      }
    });
  }

  /** If its change counter went on by one, nobody else has changed it in between. */
  async #changing(file: FileId, action: () => Promise<void>): Promise<Change> {
    const before = await this.attributes(file);
    await action();
    return changeOf(before, await this.attributes(file));
  }
}

function changeOf(before: Attributes, after: Attributes): Change {
  return after.change - before.change <= 1n ? { before, after } : { after };
}

function attributesOf(stored: StoredAttributes): Attributes {
  const { inode, generation, type, mode, links, uid, gid, size, usedBytes, device } = stored;
  const { accessed, modified, changed, born, change } = stored;
  const times = { accessed, modified, changed, created: born };
  const sizes = { sizeBytes: size, allocatedBytes: usedBytes };
  return { inode, generation, type, mode, links, uid, gid, ...sizes, device, ...times, change: BigInt(change) };
}

/** Without what is not to be changed. */
function defined<T extends object>(changes: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as never;
}
