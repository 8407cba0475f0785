import { randomBytes } from 'node:crypto';
import type { BlockDevice } from '../block-device.ts';
import { FsError } from './errors.ts';
import { type Credentials, permitted } from './files/access.ts';
import { type AttributeChanges, changeAttributes } from './files/changes.ts';
import { ContentChanges, type ContentOptions } from './contents/content-changes.ts';
import { ContentReader, type ReadResult } from './contents/content-reader.ts';
import { ContentSpace } from './contents/content-space.ts';
import { ContentWriter } from './contents/content-writer.ts';
import { FilesystemChanges, type Context } from './files/context.ts';
import { InodeNumbers } from './files/inode-numbers.ts';
import { type ListedInode, listInodes } from './files/inode-list.ts';
import { type Attributes, attributesOf, type Changed, type Created, loadInode, saveInode } from './files/inode.ts';
import { type DirectoryPage, readDirectory } from './files/listing.ts';
import { FilesystemNamespace } from './files/filesystem-namespace.ts';
import { type NewNode, newRoot, refuseNonsense } from './files/new-inode.ts';
import { pathOf, resolvePath } from './files/paths.ts';
import { chargeQuota } from './files/quotas.ts';
import { Removal } from './contents/removal.ts';
import { seekContents } from './contents/seek.ts';
import { FilesystemArchives } from './filesystem-archives.ts';
import {
  type FilesystemStatistics,
  type MountOptions,
  type NewFilesystem,
  present,
  statisticsOf,
} from './filesystem-options.ts';
import { FilesystemQuotas } from './filesystem-quotas.ts';
import { FilesystemXattrs } from './filesystem-xattrs.ts';
import { ROOT_INODE } from './store/layout.ts';
import { formatStore } from './store/format.ts';
import { type Awaitable, FilesystemStore } from './store/filesystem-store.ts';
import type { Transaction } from './store/transaction.ts';

/**
 * A mounted filesystem. Operations take the caller's credentials and inode numbers, and fail with an `FsError`. Changes
 * of names and attributes are durable when their promise resolves; written contents are durable after `commit`. Reads
 * are synchronous if everything is in memory, so an error may be thrown as well as rejected: await inside a `try`.
 */
export class Filesystem {
  readonly root = ROOT_INODE;
  readonly xattrs: FilesystemXattrs;
  readonly quotas: FilesystemQuotas;
  readonly archives: FilesystemArchives;
  readonly #store: FilesystemStore;
  readonly #context: Context;
  readonly #changes: FilesystemChanges;
  readonly #removal: Removal;
  readonly #namespace: FilesystemNamespace;
  readonly #reader: ContentReader;
  readonly #writer: ContentWriter;
  readonly #contentSpace: ContentSpace;

  static async format(device: BlockDevice, options: NewFilesystem = {}): Promise<void> {
    await formatStore(device, options);
    const store = await FilesystemStore.open(device);
    const { mode = 0o755, uid = 0, gid = 0, now = present } = options;
    await store.change((transaction) => {
      const root = newRoot({ mode, uid, gid }, now());
      chargeQuota(transaction, root, 0, 1);
      saveInode(transaction, root);
    });
    await store.close();
  }

  static async mount(device: BlockDevice, options: MountOptions = {}): Promise<Filesystem> {
    const filesystem = new Filesystem(await FilesystemStore.open(device, options), options);
    if (!device.readOnly) await filesystem.#removal.recover();
    return filesystem;
  }

  private constructor(store: FilesystemStore, { now = present, updatesAccessTimes = () => true }: MountOptions) {
    this.#store = store;
    this.#removal = new Removal(store);
    this.#context = { store, now, updatesAccessTimes, reclaim: () => this.#reclaim() };
    this.#changes = new FilesystemChanges(this.#context);
    this.xattrs = new FilesystemXattrs(this.#context, this.#changes);
    this.quotas = new FilesystemQuotas(this.#context, this.#changes);
    const numbers = new InodeNumbers(randomBytes(4).readUInt32LE(0));
    this.#namespace = new FilesystemNamespace(this.#context, numbers, this.#removal);
    const changes = new ContentChanges(this.#context);
    this.#reader = new ContentReader(this.#context);
    this.#writer = new ContentWriter(this.#context, changes);
    this.#contentSpace = new ContentSpace(this.#context, changes, this.#removal);
    this.archives = new FilesystemArchives(this.#context, changes, this.#removal);
  }

  get uuid(): Buffer {
    return this.#store.uuid;
  }

  /** With a generation: of exactly the file that a handle was issued for. */
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

  /** From the root; one of them if a file has several names. Bytes, as names are. */
  pathOf(inode: number): Awaitable<Buffer> {
    return this.#store.read(() => pathOf(this.#store.tree, inode));
  }

  /** Regular files that have a name, by inode number, after a given one; 0 begins. For scans of a snapshot. */
  async listInodes(after: number, max: number): Promise<ListedInode[]> {
    return listInodes(this.#store, after, max);
  }

  /** The wanted permissions (read 4, write 2, execute 1) that the caller has. */
  access(credentials: Credentials, inode: number, wanted: number): Awaitable<number> {
    const { tree } = this.#store;
    return this.#store.read(() => permitted(tree, credentials, loadInode(tree, inode), wanted));
  }

  /** Names after a cookie; 0 begins. Without `.` and `..`. */
  readDirectory(credentials: Credentials, directory: number, cookie: number, max: number): Awaitable<DirectoryPage> {
    return readDirectory(this.#context, credentials, directory, cookie, max);
  }

  readLink(inode: number): Awaitable<Buffer> {
    return this.#store.read(() => this.#namespace.readTarget(this.#store.tree, inode));
  }

  async create(credentials: Credentials, directory: number, name: Buffer, node: NewNode): Promise<Created> {
    refuseNonsense(node);
    return this.#changes.durably((transaction) =>
      this.#namespace.create(transaction, credentials, directory, name, node),
    );
  }

  async link(credentials: Credentials, inode: number, directory: number, name: Buffer): Promise<Created> {
    return this.#changes.durably((transaction) =>
      this.#namespace.link(transaction, credentials, inode, directory, name),
    );
  }

  /** Returns the directory, as does `removeDirectory`. */
  async unlink(credentials: Credentials, directory: number, name: Buffer): Promise<Changed> {
    const work = (transaction: Transaction) => this.#namespace.unlink(transaction, credentials, directory, name);
    return (await this.#removing(work)).directory;
  }

  async removeDirectory(credentials: Credentials, directory: number, name: Buffer): Promise<Changed> {
    const work = (transaction: Transaction) =>
      this.#namespace.removeDirectory(transaction, credentials, directory, name);
    return (await this.#removing(work)).directory;
  }

  async rename(
    credentials: Credentials,
    from: { readonly directory: number; readonly name: Buffer },
    to: { readonly directory: number; readonly name: Buffer },
  ): Promise<{ readonly from: Changed; readonly to: Changed }> {
    return this.#removing((transaction) => this.#namespace.rename(transaction, credentials, from, to));
  }

  /** The options apply to the size: the other attributes are set by the owner, open or not. */
  async setAttributes(
    credentials: Credentials,
    inode: number,
    { size, ...others }: AttributeChanges,
    options?: ContentOptions,
  ): Promise<Changed> {
    if (size === undefined) {
      return this.#changes.durably((transaction) =>
        changeAttributes(transaction, this.#context, credentials, inode, others),
      );
    }
    const changed = await this.#contentSpace.truncate(credentials, inode, size, options, others);
    await this.#store.commit();
    return changed;
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
  ): Promise<Changed> {
    return this.#writer.write(credentials, inode, offset, data, options);
  }

  /** Resolves when everything written before the call, to any file, survives a power cut. */
  async commit(): Promise<void> {
    await this.#store.commit();
  }

  /** The next data, or hole, from an offset on; the end of a file counts as a hole. ENXIO after the end. */
  seek(inode: number, offset: number, what: 'data' | 'hole'): Awaitable<number> {
    return this.#store.read(() => seekContents(this.#store.tree, inode, offset, what));
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
    return statisticsOf(this.#store);
  }

  /** Like `commit`; afterwards a mount, also of a snapshot, has nothing to replay. */
  async sync(): Promise<void> {
    await this.#store.checkpoint();
  }

  /** The volume has grown. */
  async grow(): Promise<void> {
    await this.#store.grow();
  }

  /** Resolves when deleted files are removed and their space is freed. */
  async whenIdle(): Promise<void> {
    await this.#reclaim();
  }

  async unmount(): Promise<void> {
    await this.#removal.whenIdle();
    await this.#store.close();
  }

  async #removing<T extends { readonly orphan: number | undefined }>(
    work: (transaction: Transaction) => T,
  ): Promise<T> {
    const removed = await this.#changes.make(work);
    if (removed.orphan !== undefined) this.#removal.reap(removed.orphan);
    await this.#store.commit();
    return removed;
  }

  async #reclaim(): Promise<void> {
    await this.#removal.whenIdle();
    await this.#store.reclaim();
  }
}
