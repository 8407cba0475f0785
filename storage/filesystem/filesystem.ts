import { randomBytes } from 'node:crypto';
import type { BlockDevice } from '../block-device.ts';
import { BLOCK_BYTES } from '../units.ts';
import { FsError, toFsError } from './errors.ts';
import { type Credentials, isSuperuser, MAY_READ, permitted, requireAccess } from './files/access.ts';
import { type AttributeChanges, changeAttributes, changeProject } from './files/changes.ts';
import { ContentChanges, type ContentOptions } from './contents/content-changes.ts';
import { ContentReader, type ReadResult } from './contents/content-reader.ts';
import { ContentSpace } from './contents/content-space.ts';
import { ContentWriter } from './contents/content-writer.ts';
import { type Context, withSpace } from './files/context.ts';
import { type Entry, listEntries } from './files/entries.ts';
import { InodeNumbers } from './files/inode-numbers.ts';
import { type Attributes, attributesOf, loadDirectory, loadInode, saveInode, type Time } from './files/inode.ts';
import { Namespace, type NewNode, TARGET_BYTES_MAX } from './files/namespace.ts';
import { resolvePath } from './files/paths.ts';
import {
  chargeQuota,
  listQuotas,
  type Quota,
  type QuotaScope,
  type QuotaState,
  readQuota,
  readQuotaState,
  setQuotaLimits,
  writeQuotaState,
} from './files/quotas.ts';
import { Removal } from './contents/removal.ts';
import { dropXattr, readXattr, setXattr, type XattrMode, xattrNames } from './files/xattr-operations.ts';
import { ROOT_INODE } from './store/layout.ts';
import { type Awaitable, type FormatOptions, Store } from './store/store.ts';
import type { Transaction } from './store/transaction.ts';

export interface NewFilesystem extends FormatOptions {
  /** Of the root directory. */
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
  readonly now?: () => Time;
}

export interface MountOptions {
  /** How much memory the metadata may take. */
  readonly cacheBytes?: number;
  readonly now?: () => Time;
}

export interface FilesystemStatistics {
  readonly blockBytes: number;
  readonly totalBytes: number;
  readonly freeBytes: number;
  /** What files can have: free space without what the filesystem keeps for itself. */
  readonly availableBytes: number;
  readonly inodes: number;
}

export interface DirectoryPage {
  readonly entries: readonly Entry[];
  readonly isEnd: boolean;
}

/**
 * A mounted filesystem. Operations take the credentials of who asks and the numbers of inodes; what they refuse is an
 * `FsError`. What changes names or attributes is durable when its promise resolves; what was written to files is durable
 * after `commit`. What only reads answers without a promise if all of it is in memory.
 */
export class Filesystem {
  readonly #store: Store;
  readonly #context: Context;
  readonly #removal: Removal;
  readonly #namespace: Namespace;
  readonly #reader: ContentReader;
  readonly #writer: ContentWriter;
  readonly #contentSpace: ContentSpace;

  static async format(device: BlockDevice, options: NewFilesystem = {}): Promise<void> {
    await Store.format(device, options);
    const store = await Store.open(device);
    await store.change((transaction) => makeRoot(transaction, options));
    await store.close();
  }

  static async mount(device: BlockDevice, options: MountOptions = {}): Promise<Filesystem> {
    const filesystem = new Filesystem(await Store.open(device, options), options);
    if (!device.readOnly) await filesystem.#removal.recover();
    return filesystem;
  }

  private constructor(store: Store, { now = present }: MountOptions) {
    this.#store = store;
    this.#removal = new Removal(store);
    this.#context = { store, now, reclaim: () => this.#reclaim() };
    const numbers = new InodeNumbers(randomBytes(4).readUInt32LE(0));
    this.#namespace = new Namespace(this.#context, numbers, this.#removal);
    const changes = new ContentChanges(this.#context);
    this.#reader = new ContentReader(this.#context);
    this.#writer = new ContentWriter(this.#context, changes);
    this.#contentSpace = new ContentSpace(this.#context, changes, this.#removal);
  }

  readonly root = ROOT_INODE;

  get uuid(): Buffer {
    return this.#store.uuid;
  }

  /** With a generation, of exactly the file that a handle was given for. */
  attributes(inode: number, generation?: number): Awaitable<Attributes> {
    return this.#store.read(() => {
      const found = loadInode(this.#store.tree, inode);
      if (generation !== undefined && found.generation !== generation) {
        throw new FsError('ESTALE', `Inode ${inode} is another file now.`);
      }
      return attributesOf(found);
    });
  }

  lookup(credentials: Credentials, directory: number, name: Buffer): Awaitable<Attributes> {
    const { tree } = this.#store;
    return this.#store.read(() => attributesOf(this.#namespace.lookup(tree, credentials, directory, name)));
  }

  resolve(
    credentials: Credentials,
    path: Buffer,
    options: { readonly from?: number; readonly followsLast?: boolean } = {},
  ): Awaitable<Attributes> {
    const { tree } = this.#store;
    return this.#store.read(() => attributesOf(resolvePath(tree, this.#namespace, credentials, path, options)));
  }

  /** Which of the wanted permissions (read 4, write 2, execute 1) the caller has. */
  access(credentials: Credentials, inode: number, wanted: number): Awaitable<number> {
    const { tree } = this.#store;
    return this.#store.read(() => permitted(tree, credentials, loadInode(tree, inode), wanted));
  }

  /** Names behind a cookie; 0 begins. `.` and `..` are not among them. */
  readDirectory(credentials: Credentials, directory: number, cookie: number, max: number): Awaitable<DirectoryPage> {
    const { tree } = this.#store;
    return this.#store.read(() => {
      requireAccess(tree, credentials, loadDirectory(tree, directory), MAY_READ);
      const entries: Entry[] = [];
      listEntries(tree, directory, cookie, (entry) => entries.push(entry) <= max);
      const isEnd = entries.length <= max;
      return { entries: isEnd ? entries : entries.slice(0, max), isEnd };
    });
  }

  readLink(inode: number): Awaitable<Buffer> {
    return this.#store.read(() => this.#namespace.readTarget(this.#store.tree, inode));
  }

  async create(credentials: Credentials, directory: number, name: Buffer, node: NewNode): Promise<Attributes> {
    if ((node.type === 'symlink') !== (node.target !== undefined)) {
      throw new FsError('EINVAL', 'A symbolic link, and nothing else, has a target.');
    }
    if (node.target?.length === 0) throw new FsError('ENOENT', 'The target of a symbolic link is empty.');
    if (node.target !== undefined && node.target.length > TARGET_BYTES_MAX) {
      throw new FsError('ENAMETOOLONG', `The target of a symbolic link has ${TARGET_BYTES_MAX} bytes at most.`);
    }
    return this.#durably((transaction) =>
      attributesOf(this.#namespace.create(transaction, credentials, directory, name, node)),
    );
  }

  async link(credentials: Credentials, inode: number, directory: number, name: Buffer): Promise<Attributes> {
    return this.#durably((transaction) =>
      attributesOf(this.#namespace.link(transaction, credentials, inode, directory, name)),
    );
  }

  async unlink(credentials: Credentials, directory: number, name: Buffer): Promise<void> {
    await this.#removing((transaction) => this.#namespace.unlink(transaction, credentials, directory, name));
  }

  async removeDirectory(credentials: Credentials, directory: number, name: Buffer): Promise<void> {
    await this.#removing((transaction) => this.#namespace.removeDirectory(transaction, credentials, directory, name));
  }

  async rename(
    credentials: Credentials,
    from: { readonly directory: number; readonly name: Buffer },
    to: { readonly directory: number; readonly name: Buffer },
  ): Promise<void> {
    await this.#removing((transaction) => this.#namespace.rename(transaction, credentials, from, to));
  }

  async setAttributes(credentials: Credentials, inode: number, changes: AttributeChanges): Promise<Attributes> {
    return this.#durably((transaction) =>
      attributesOf(changeAttributes(transaction, this.#context, credentials, inode, changes)),
    );
  }

  async setSize(credentials: Credentials, inode: number, size: number, options?: ContentOptions): Promise<Attributes> {
    const attributes = await this.#contentSpace.truncate(credentials, inode, size, options);
    await this.#store.commit();
    return attributes;
  }

  read(
    credentials: Credentials,
    inode: number,
    offset: number,
    into: Buffer,
    options?: ContentOptions,
  ): Awaitable<ReadResult> {
    return this.#reader.read(credentials, inode, offset, into, options);
  }

  /** Not durable before `commit`. */
  async write(
    credentials: Credentials,
    inode: number,
    offset: number,
    data: Buffer,
    options?: ContentOptions,
  ): Promise<Attributes> {
    return this.#writer.write(credentials, inode, offset, data, options);
  }

  /** Resolves when everything that was written before the call, to whatever file, survives a power cut. */
  async commit(): Promise<void> {
    await this.#store.commit();
  }

  async punch(
    credentials: Credentials,
    inode: number,
    offset: number,
    length: number,
    options?: ContentOptions,
  ): Promise<void> {
    await this.#contentSpace.punch(credentials, inode, offset, length, options);
    await this.#store.commit();
  }

  async preallocate(
    credentials: Credentials,
    inode: number,
    offset: number,
    length: number,
    options?: ContentOptions & { readonly keepsSize?: boolean },
  ): Promise<void> {
    await this.#contentSpace.preallocate(credentials, inode, offset, length, options);
    await this.#store.commit();
  }

  /** The file stays, even without a name, until `close` was called as often. */
  open(inode: number): void {
    this.#removal.open(inode);
  }

  async close(inode: number): Promise<void> {
    await this.#removal.close(inode);
  }

  getXattr(credentials: Credentials, inode: number, name: Buffer): Awaitable<Buffer> {
    return this.#store.read(() => readXattr(this.#store.tree, credentials, inode, name));
  }

  listXattrs(credentials: Credentials, inode: number): Awaitable<Buffer[]> {
    return this.#store.read(() => xattrNames(this.#store.tree, credentials, inode));
  }

  async setXattr(
    credentials: Credentials,
    inode: number,
    name: Buffer,
    value: Buffer,
    mode: XattrMode = 'set',
  ): Promise<void> {
    await this.#durably((transaction) =>
      setXattr(transaction, this.#context, credentials, inode, { name, value, mode }),
    );
  }

  async removeXattr(credentials: Credentials, inode: number, name: Buffer): Promise<void> {
    await this.#durably((transaction) => dropXattr(transaction, this.#context, credentials, inode, name));
  }

  quota(scope: QuotaScope, id: number): Awaitable<Quota> {
    return this.#store.read(() => readQuota(this.#store.tree, scope, id));
  }

  /** In order of the ids, from one on. */
  quotas(scope: QuotaScope, from: number, max: number): Awaitable<Quota[]> {
    return this.#store.read(() => listQuotas(this.#store.tree, scope, from, max));
  }

  /** Sets limits, a few hundred in each transaction. */
  async setQuotas(limits: readonly Pick<Quota, 'scope' | 'id' | 'limitBytes' | 'limitInodes'>[]): Promise<void> {
    for (let at = 0; at < limits.length; at += QUOTAS_PER_STEP) {
      await this.#change((transaction) => {
        for (const quota of limits.slice(at, at + QUOTAS_PER_STEP)) {
          setQuotaLimits(transaction, quota.scope, quota.id, quota);
        }
      });
    }
    await this.#store.commit();
  }

  quotaState(): Awaitable<QuotaState> {
    return this.#store.read(() => readQuotaState(this.#store.tree));
  }

  async setQuotaState(state: QuotaState): Promise<void> {
    await this.#durably((transaction) => writeQuotaState(transaction, state));
  }

  /** Moves one file or directory to a quota project; what is created in the directory from now on belongs to it, too. */
  async setProject(credentials: Credentials, inode: number, project: number): Promise<void> {
    if (!isSuperuser(credentials)) throw new FsError('EPERM', 'Only the superuser moves files to another project.');
    await this.#durably((transaction) => changeProject(transaction, this.#context, inode, project));
  }

  statistics(): FilesystemStatistics {
    const { totalBlocks, allocatedBlocks } = this.#store.space;
    const free = totalBlocks - allocatedBlocks;
    return {
      blockBytes: BLOCK_BYTES,
      totalBytes: totalBlocks * BLOCK_BYTES,
      freeBytes: free * BLOCK_BYTES,
      availableBytes: Math.max(free - this.#store.reserveBlocks, 0) * BLOCK_BYTES,
      inodes: this.#store.inodes,
    };
  }

  /** Like `commit`; afterwards a mount, also of a snapshot, has nothing to replay. */
  async sync(): Promise<void> {
    await this.#store.checkpoint();
  }

  /** The volume has grown. */
  async grow(): Promise<void> {
    await this.#store.grow();
  }

  /** Resolves when what was deleted is gone and its space was given back. */
  async settled(): Promise<void> {
    await this.#reclaim();
  }

  async unmount(): Promise<void> {
    await this.#removal.settled();
    await this.#store.close();
  }

  async #durably<T>(work: (transaction: Transaction) => T): Promise<T> {
    const result = await this.#change(work);
    await this.#store.commit();
    return result;
  }

  async #change<T>(work: (transaction: Transaction) => T): Promise<T> {
    try {
      return await withSpace(this.#context, () => this.#store.change(work));
    } catch (error) {
      throw toFsError(error);
    }
  }

  async #removing(work: (transaction: Transaction) => number | undefined): Promise<void> {
    const orphan = await this.#change(work);
    if (orphan !== undefined) this.#removal.reap(orphan);
    await this.#store.commit();
  }

  async #reclaim(): Promise<void> {
    await this.#removal.settled();
    await this.#store.reclaim();
  }
}

/** Limits that are set in one transaction. */
const QUOTAS_PER_STEP = 256;

function makeRoot(transaction: Transaction, { mode = 0o755, uid = 0, gid = 0, now = present }: NewFilesystem): void {
  const time = now();
  const root = {
    inode: ROOT_INODE,
    generation: 1,
    type: 'directory' as const,
    mode,
    uid,
    gid,
    project: 0,
    links: 2,
    size: 0,
    blocks: 0,
    accessed: time,
    modified: time,
    changed: time,
    born: time,
    change: 1,
    parent: ROOT_INODE,
    entries: 0,
    major: 0,
    minor: 0,
    isInline: false,
    hasAcl: false,
    hasDefaultAcl: false,
  };
  chargeQuota(transaction, root, 0, 1);
  saveInode(transaction, root);
}

function present(): Time {
  const milliseconds = performance.timeOrigin + performance.now();
  const seconds = Math.floor(milliseconds / 1000);
  return { seconds, nanoseconds: Math.floor((milliseconds - seconds * 1000) * 1e6) };
}
