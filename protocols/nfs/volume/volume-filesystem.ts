import { randomBytes } from 'node:crypto';
import {
  ACL_NAMES,
  encodeAcl,
  parseAcl,
  type Filesystem as StorageFilesystem,
  type Attributes as StoredAttributes,
  type Changed,
  type Created as StoredCreated,
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

/** A filesystem on a volume as NFS asks for it. */
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
    await this.#require(file);
    return this.#inner.access(as, file.inode, ALL);
  }

  async setAttributes(as: Credentials, file: FileId, { sizeBytes, ...others }: AttributeChanges): Promise<Change> {
    await this.#require(file);
    const changes = defined({ ...others, size: sizeBytes });
    return changeOf(await this.#inner.setAttributes(as, file.inode, changes, OPEN));
  }

  async lookup(as: Credentials, directory: FileId, name: Buffer): Promise<Attributes> {
    await this.#require(directory);
    return attributesOf(await this.#inner.lookup(as, directory.inode, name));
  }

  async create(
    as: Credentials,
    directory: FileId,
    name: Buffer,
    file: NewFile,
    { mode = 0o644, sizeBytes, ...others }: AttributeChanges,
  ): Promise<Created> {
    await this.#require(directory);
    const size = file.type === 'file' ? sizeBytes : undefined;
    const node = { ...file, mode, ...defined({ ...others, size }) };
    return createdOf(await this.#inner.create(as, directory.inode, name, node));
  }

  async link(as: Credentials, file: FileId, directory: FileId, name: Buffer): Promise<Created> {
    await this.#require(file);
    await this.#require(directory);
    return createdOf(await this.#inner.link(as, file.inode, directory.inode, name));
  }

  async remove(
    as: Credentials,
    directory: FileId,
    name: Buffer,
    what: 'file' | 'directory' | 'either',
  ): Promise<Change> {
    await this.#require(directory);
    const isDirectory =
      what === 'directory' ||
      (what === 'either' && (await this.#inner.lookup(as, directory.inode, name)).type === 'directory');
    const removed = isDirectory
      ? this.#inner.removeDirectory(as, directory.inode, name)
      : this.#inner.unlink(as, directory.inode, name);
    return changeOf(await removed);
  }

  async rename(
    as: Credentials,
    from: FileId,
    oldName: Buffer,
    to: FileId,
    newName: Buffer,
  ): Promise<{ from: Change; to: Change }> {
    await this.#require(from);
    await this.#require(to);
    const source = { directory: from.inode, name: oldName };
    const renamed = await this.#inner.rename(as, source, { directory: to.inode, name: newName });
    return { from: changeOf(renamed.from), to: changeOf(renamed.to) };
  }

  async readDirectory(as: Credentials, directory: FileId, after: bigint, count: number): Promise<DirectoryPage> {
    await this.#require(directory);
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
    const last = page.entries.at(-1);
    // All of the page was removed meanwhile; what is behind it is not.
    if (entries.length === 0 && !page.isEnd && last !== undefined) {
      return this.readDirectory(as, directory, BigInt(last.cookie), count);
    }
    return { entries, isEnd: page.isEnd };
  }

  async readSymlink(file: FileId): Promise<Buffer> {
    await this.#require(file);
    return this.#inner.readLink(file.inode);
  }

  async read(as: Credentials, file: FileId, offset: number, into: Buffer): Promise<number> {
    return (await this.#inner.read(as, file.inode, offset, into, OPEN)).bytes;
  }

  async write(as: Credentials, file: FileId, offset: number, data: Buffer, durable: boolean): Promise<Change> {
    await this.#require(file);
    const written = await this.#inner.write(as, file.inode, offset, data, OPEN);
    if (durable) await this.#inner.commit();
    return changeOf(written);
  }

  commit(): Promise<void> {
    return this.#inner.commit();
  }

  async hold(_as: Credentials, file: FileId): Promise<void> {
    await this.#require(file);
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
    await this.#require(file);
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
    await this.#require(file);
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
    return { after: await this.attributes(file) };
  }

  /** What it refers to is there, and is not another file of the same number. */
  #require({ inode, generation }: FileId): Awaitable<StoredAttributes> {
    return this.#inner.attributes(inode, generation);
  }
}

function changeOf(changed: Changed): Change {
  return { before: attributesOf(changed.before), after: attributesOf(changed) };
}

function createdOf(created: StoredCreated): Created {
  return { attributes: attributesOf(created), directory: changeOf(created.directory) };
}

/** Field by field: this is done for every entry of a listing. */
function attributesOf(stored: StoredAttributes): Attributes {
  return {
    inode: stored.inode,
    generation: stored.generation,
    type: stored.type,
    mode: stored.mode,
    links: stored.links,
    uid: stored.uid,
    gid: stored.gid,
    sizeBytes: stored.size,
    allocatedBytes: stored.usedBytes,
    device: stored.device,
    accessed: stored.accessed,
    modified: stored.modified,
    changed: stored.changed,
    created: stored.born,
    change: BigInt(stored.change),
  };
}

/** Without what is not to be changed. */
function defined<T extends object>(changes: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as never;
}
