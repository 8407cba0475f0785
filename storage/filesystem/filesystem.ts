import { randomBytes } from 'node:crypto';
import type { BlockDevice } from '../block-device.ts';
import { BLOCK_BYTES } from '../units.ts';
import { FsError } from './errors.ts';
import { type Credentials, MAY_READ, permitted, requireAccess } from './files/access.ts';
import { isAccessDue, recordAccess } from './files/access-time.ts';
import { type AttributeChanges, changeAttributes } from './files/changes.ts';
import { ContentChanges, type ContentOptions } from './contents/content-changes.ts';
import { ContentReader, type ReadResult } from './contents/content-reader.ts';
import { ContentSpace } from './contents/content-space.ts';
import { ContentWriter } from './contents/content-writer.ts';
import { Changes, type Context } from './files/context.ts';
import { type Entry, listEntries } from './files/entries.ts';
import { InodeNumbers } from './files/inode-numbers.ts';
import { type ListedInode, listInodes } from './files/inode-list.ts';
import { type Attributes, attributesOf, loadDirectory, loadInode, saveInode, type Time } from './files/inode.ts';
import { Namespace, TARGET_BYTES_MAX } from './files/namespace.ts';
import { type NewNode, newRoot } from './files/new-inode.ts';
import { pathOf, resolvePath } from './files/paths.ts';
import { chargeQuota } from './files/quotas.ts';
import { Removal } from './contents/removal.ts';
import { FilesystemArchives } from './filesystem-archives.ts';
import { FilesystemQuotas } from './filesystem-quotas.ts';
import { FilesystemXattrs } from './filesystem-xattrs.ts';
import { NUMBER_MAX, ROOT_INODE } from './store/layout.ts';
import { type FormatOptions, formatStore } from './store/format.ts';
import { type Awaitable, Store } from './store/store.ts';
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
  /** Whether reading a file changes its time of access; asked each time. */
  readonly updatesAccessTimes?: () => boolean;
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
 * after `commit`. What only reads answers without a promise if all of it is in memory, so its failure may be thrown as well
 * as rejected: await it inside a `try`.
 */
export class Filesystem {
  readonly root = ROOT_INODE;
  readonly xattrs: FilesystemXattrs;
  readonly quotas: FilesystemQuotas;
  readonly archives: FilesystemArchives;
  readonly #store: Store;
  readonly #context: Context;
  readonly #changes: Changes;
  readonly #removal: Removal;
  readonly #namespace: Namespace;
  readonly #reader: ContentReader;
  readonly #writer: ContentWriter;
  readonly #contentSpace: ContentSpace;

  static async format(device: BlockDevice, options: NewFilesystem = {}): Promise<void> {
    await formatStore(device, options);
    const store = await Store.open(device);
    const { mode = 0o755, uid = 0, gid = 0, now = present } = options;
    await store.change((transaction) => {
      const root = newRoot({ mode, uid, gid }, now());
      chargeQuota(transaction, root, 0, 1);
      saveInode(transaction, root);
    });
    await store.close();
  }

  static async mount(device: BlockDevice, options: MountOptions = {}): Promise<Filesystem> {
    const filesystem = new Filesystem(await Store.open(device, options), options);
    if (!device.readOnly) await filesystem.#removal.recover();
    return filesystem;
  }

  private constructor(store: Store, { now = present, updatesAccessTimes = () => true }: MountOptions) {
    this.#store = store;
    this.#removal = new Removal(store);
    this.#context = { store, now, updatesAccessTimes, reclaim: () => this.#reclaim() };
    this.#changes = new Changes(this.#context);
    this.xattrs = new FilesystemXattrs(this.#context, this.#changes);
    this.quotas = new FilesystemQuotas(this.#context, this.#changes);
    const numbers = new InodeNumbers(randomBytes(4).readUInt32LE(0));
    this.#namespace = new Namespace(this.#context, numbers, this.#removal);
    const changes = new ContentChanges(this.#context);
    this.#reader = new ContentReader(this.#context);
    this.#writer = new ContentWriter(this.#context, changes);
    this.#contentSpace = new ContentSpace(this.#context, changes, this.#removal);
    this.archives = new FilesystemArchives(this.#context, changes, this.#removal);
  }

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

  /** From the root on; one of them if a file has several names. Bytes, as names are. */
  pathOf(inode: number): Awaitable<Buffer> {
    return this.#store.read(() => pathOf(this.#store.tree, inode));
  }

  /** Regular files that have a name, in the order of their numbers, behind one of them; 0 begins. For scans of a snapshot. */
  async listInodes(after: number, max: number): Promise<ListedInode[]> {
    return listInodes(this.#store, after, max);
  }

  /** Which of the wanted permissions (read 4, write 2, execute 1) the caller has. */
  access(credentials: Credentials, inode: number, wanted: number): Awaitable<number> {
    const { tree } = this.#store;
    return this.#store.read(() => permitted(tree, credentials, loadInode(tree, inode), wanted));
  }

  /** Names behind a cookie; 0 begins. `.` and `..` are not among them. */
  readDirectory(credentials: Credentials, directory: number, cookie: number, max: number): Awaitable<DirectoryPage> {
    const { tree } = this.#store;
    if (!(cookie >= 0 && cookie < NUMBER_MAX)) throw new FsError('EINVAL', 'No listing has given out this cookie.');
    return this.#store.read(() => {
      const inode = loadDirectory(tree, directory);
      requireAccess(tree, credentials, inode, MAY_READ);
      const entries: Entry[] = [];
      listEntries(tree, directory, cookie, (entry) => entries.push(entry) <= max);
      const isEnd = entries.length <= max;
      // Afterwards: within a function that reads nothing is changed.
      if (isAccessDue(inode, this.#context.now())) queueMicrotask(() => recordAccess(this.#context, directory));
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
    return this.#changes.durably((transaction) =>
      attributesOf(this.#namespace.create(transaction, credentials, directory, name, node)),
    );
  }

  async link(credentials: Credentials, inode: number, directory: number, name: Buffer): Promise<Attributes> {
    return this.#changes.durably((transaction) =>
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
    return this.#changes.durably((transaction) =>
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

  async #removing(work: (transaction: Transaction) => number | undefined): Promise<void> {
    const orphan = await this.#changes.make(work);
    if (orphan !== undefined) this.#removal.reap(orphan);
    await this.#store.commit();
  }

  async #reclaim(): Promise<void> {
    await this.#removal.settled();
    await this.#store.reclaim();
  }
}

function present(): Time {
  const milliseconds = performance.timeOrigin + performance.now();
  const seconds = Math.floor(milliseconds / 1000);
  return { seconds, nanoseconds: Math.floor((milliseconds - seconds * 1000) * 1e6) };
}
