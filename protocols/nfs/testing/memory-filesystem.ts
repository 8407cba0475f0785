import { randomBytes } from 'node:crypto';
import {
  Access,
  FileError,
  type Acl,
  type AclEntry,
  type AttributeChanges,
  type Attributes,
  type Change,
  type Created,
  type Credentials,
  type DirectoryPage,
  type FileId,
  type Filesystem,
  type NewFile,
  type QuotaState,
  type SpaceUsage,
  type TimeChange,
  type Timestamp,
} from '../filesystem.ts';
import { MemoryData } from './memory-data.ts';
import { MemoryDirectory } from './memory-directory.ts';
import { attributesOf, granted, isMember, mustOwnIfSticky, mustWrite, unchanged, type Inode } from './memory-inode.ts';

const SET_GROUP_ID = 0o2000;
const SET_ID = 0o6000;
const TEBIBYTE = 2 ** 40;

export interface MemoryFilesystemOptions {
  readonly id?: bigint;
  readonly capacityBytes?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** The whole interface in memory: what the protocol is tested against without a volume below. */
export class MemoryFilesystem implements Filesystem {
  readonly id: bigint;
  readonly root: FileId = { inode: 2, generation: 1 };
  readonly limits = { nameBytesMax: 255, fileBytesMax: 16 * TEBIBYTE, linksMax: 1000, symlinkBytesMax: 4095 };
  readonly quotas = new Map<number, QuotaState>();
  writeVerifier = randomBytes(8).readBigUInt64BE();
  /** Writes that were not asked to be durable and not committed since. */
  uncommitted = 0;
  /** Called before each change; may throw. */
  onChange: () => void | Promise<void> = () => undefined;
  readonly #inodes = new Map<number, Inode>();
  readonly #capacityBytes: number;
  readonly #now: () => number;
  #lastInode = 2;
  #lastTick = 0;

  constructor(options: MemoryFilesystemOptions = {}) {
    this.id = options.id ?? 1n;
    this.#capacityBytes = options.capacityBytes ?? TEBIBYTE;
    this.#now = options.now ?? Date.now;
    const top = this.#newInode({ type: 'directory' }, this.root.inode, 0, 0, 0o777);
    top.parent = top.inode;
  }

  get fileCount(): number {
    return this.#inodes.size;
  }

  attributes(file: FileId): Attributes {
    return attributesOf(this.#get(file));
  }

  access(as: Credentials, file: FileId): number {
    return granted(as, this.#get(file));
  }

  async setAttributes(as: Credentials, file: FileId, changes: AttributeChanges): Promise<Change> {
    await this.onChange();
    const node = this.#get(file);
    const isOwner = as.uid === 0 || as.uid === node.uid;
    const { mode, uid, gid, sizeBytes, accessed, modified } = changes;
    if (mode !== undefined && !isOwner) throw new FileError('EPERM');
    if (uid !== undefined && uid !== node.uid && as.uid !== 0) throw new FileError('EPERM');
    if (gid !== undefined && gid !== node.gid && as.uid !== 0 && !(isOwner && isMember(as, gid))) {
      throw new FileError('EPERM');
    }
    for (const time of [accessed, modified]) {
      if (time === undefined || isOwner) continue;
      if (time !== 'now') throw new FileError('EPERM');
      if ((granted(as, node) & Access.write) === 0) throw new FileError('EACCES');
    }
    const before = attributesOf(node);
    if (sizeBytes !== undefined) {
      if (node.type !== 'file') throw new FileError(node.type === 'directory' ? 'EISDIR' : 'EINVAL');
      this.#charge(node, sizeBytes);
      node.data.truncate(sizeBytes);
      node.modified = this.#time();
    }
    if (mode !== undefined) node.mode = mode;
    if (uid !== undefined) node.uid = uid;
    if (gid !== undefined) node.gid = gid;
    if ((uid !== undefined || gid !== undefined) && as.uid !== 0 && node.type === 'file') node.mode &= ~SET_ID;
    node.accessed = this.#timeOf(accessed) ?? node.accessed;
    node.modified = this.#timeOf(modified) ?? node.modified;
    return this.#touched(node, before);
  }

  lookup(as: Credentials, directory: FileId, name: Buffer): Attributes {
    const node = this.#searchable(as, directory);
    if (name.equals(Buffer.from('..'))) return attributesOf(this.#byNumber(node.parent));
    const entry = node.entries.get(name);
    if (entry === undefined) throw new FileError('ENOENT');
    return attributesOf(this.#byNumber(entry.inode));
  }

  async create(
    as: Credentials,
    directory: FileId,
    name: Buffer,
    file: NewFile,
    attributes: AttributeChanges,
  ): Promise<Created> {
    await this.onChange();
    const node = this.#searchable(as, directory);
    if (node.entries.get(name) !== undefined) throw new FileError('EEXIST');
    mustWrite(as, node);
    const before = attributesOf(node);
    const inherits = (node.mode & SET_GROUP_ID) !== 0;
    const gid = inherits ? node.gid : as.gid;
    const mode = (attributes.mode ?? 0o644) | (inherits && file.type === 'directory' ? SET_GROUP_ID : 0);
    const made = this.#newInode(file, ++this.#lastInode, as.uid, gid, mode);
    made.parent = node.inode;
    if (as.uid === 0) made.uid = attributes.uid ?? made.uid;
    if (attributes.gid !== undefined && (as.uid === 0 || isMember(as, attributes.gid))) made.gid = attributes.gid;
    made.accessed = this.#timeOf(attributes.accessed) ?? made.accessed;
    made.modified = this.#timeOf(attributes.modified) ?? made.modified;
    if (node.acl.default.length > 0) {
      made.acl = { access: node.acl.default, default: file.type === 'directory' ? node.acl.default : [] };
    }
    if (attributes.sizeBytes !== undefined) made.data.truncate(attributes.sizeBytes);
    node.entries.set(name, made.inode);
    if (file.type === 'directory') node.links += 1;
    return { attributes: attributesOf(made), directory: this.#modified(node, before) };
  }

  async link(as: Credentials, file: FileId, directory: FileId, name: Buffer): Promise<Created> {
    await this.onChange();
    const node = this.#searchable(as, directory);
    const linked = this.#get(file);
    if (linked.type === 'directory') throw new FileError('EPERM');
    if (node.entries.get(name) !== undefined) throw new FileError('EEXIST');
    if (linked.links >= this.limits.linksMax) throw new FileError('EMLINK');
    mustWrite(as, node);
    const before = attributesOf(node);
    node.entries.set(name, linked.inode);
    linked.links += 1;
    this.#touched(linked, attributesOf(linked));
    return { attributes: attributesOf(linked), directory: this.#modified(node, before) };
  }

  async remove(
    as: Credentials,
    directory: FileId,
    name: Buffer,
    what: 'file' | 'directory' | 'either',
  ): Promise<Change> {
    await this.onChange();
    const node = this.#searchable(as, directory);
    const entry = node.entries.get(name);
    if (entry === undefined) throw new FileError('ENOENT');
    const removed = this.#byNumber(entry.inode);
    mustWrite(as, node);
    mustOwnIfSticky(as, node, removed);
    if (what === 'file' && removed.type === 'directory') throw new FileError('EISDIR');
    if (what === 'directory' && removed.type !== 'directory') throw new FileError('ENOTDIR');
    if (removed.entries.size > 0) throw new FileError('ENOTEMPTY');
    const before = attributesOf(node);
    node.entries.delete(name);
    this.#unlinked(node, removed);
    return this.#modified(node, before);
  }

  async rename(
    as: Credentials,
    from: FileId,
    oldName: Buffer,
    to: FileId,
    newName: Buffer,
  ): Promise<{ from: Change; to: Change }> {
    await this.onChange();
    const source = this.#searchable(as, from);
    const target = this.#searchable(as, to);
    const entry = source.entries.get(oldName);
    if (entry === undefined) throw new FileError('ENOENT');
    const node = this.#byNumber(entry.inode);
    const replacedEntry = target.entries.get(newName);
    const replaced = replacedEntry && this.#byNumber(replacedEntry.inode);
    mustWrite(as, source);
    mustWrite(as, target);
    mustOwnIfSticky(as, source, node);
    const [beforeFrom, beforeTo] = [attributesOf(source), attributesOf(target)];
    if (replaced === node) return { from: unchanged(source), to: unchanged(target) };
    this.#mustNotBeBelow(node, target);
    if (replaced !== undefined) {
      mustOwnIfSticky(as, target, replaced);
      if (replaced.type === 'directory' && node.type !== 'directory') throw new FileError('EISDIR');
      if (replaced.type !== 'directory' && node.type === 'directory') throw new FileError('ENOTDIR');
      if (replaced.entries.size > 0) throw new FileError('ENOTEMPTY');
      target.entries.delete(newName);
      this.#unlinked(target, replaced);
    }
    source.entries.delete(oldName);
    target.entries.set(newName, node.inode);
    if (node.type === 'directory') {
      source.links -= 1;
      target.links += 1;
      node.parent = target.inode;
    }
    this.#touched(node, attributesOf(node));
    const fromChange = this.#modified(source, beforeFrom);
    if (source === target) return { from: fromChange, to: fromChange };
    return { from: fromChange, to: this.#modified(target, beforeTo) };
  }

  readDirectory(as: Credentials, directory: FileId, after: bigint, count: number): DirectoryPage {
    const node = this.#directory(directory);
    if ((granted(as, node) & Access.read) === 0) throw new FileError('EACCES');
    const rest = node.entries.after(after, count + 1);
    const entries = rest.slice(0, count).map(({ name, cookie, inode }) => {
      return { name, cookie, attributes: attributesOf(this.#byNumber(inode)) };
    });
    return { entries, isEnd: rest.length <= count };
  }

  readSymlink(file: FileId): Buffer {
    const node = this.#get(file);
    if (node.type !== 'symlink') throw new FileError('EINVAL');
    return node.target;
  }

  read(_as: Credentials, file: FileId, offset: number, into: Buffer): number {
    const node = this.#get(file);
    node.accessed = this.#time();
    return node.data.read(offset, into);
  }

  async write(as: Credentials, file: FileId, offset: number, data: Buffer, durable: boolean): Promise<Change> {
    await this.onChange();
    const node = this.#get(file);
    const before = attributesOf(node);
    this.#charge(node, offset + data.length);
    node.data.write(offset, data);
    if (as.uid !== 0) node.mode &= ~SET_ID;
    if (!durable) this.uncommitted += 1;
    node.modified = this.#time();
    return this.#touched(node, before);
  }

  commit(file: FileId): void {
    this.#get(file);
    this.uncommitted = 0;
  }

  hold(_as: Credentials, file: FileId, _access: number): void {
    this.#get(file).holds += 1;
  }

  release(_as: Credentials, file: FileId): void {
    const node = this.#get(file);
    node.holds -= 1;
    if (node.links === 0 && node.holds === 0) this.#inodes.delete(node.inode);
  }

  space(): SpaceUsage {
    const free = this.#capacityBytes - this.#usedBytes();
    const totalFiles = 1_000_000;
    const freeFiles = totalFiles - this.#inodes.size;
    return { totalBytes: this.#capacityBytes, freeBytes: free, availableBytes: free, totalFiles, freeFiles };
  }

  quota(as: Credentials): QuotaState | undefined {
    return this.quotas.get(as.uid);
  }

  acl(file: FileId): Acl {
    return this.#get(file).acl;
  }

  async setAcl(as: Credentials, file: FileId, acl: Partial<Acl>): Promise<Change> {
    await this.onChange();
    const node = this.#get(file);
    if (as.uid !== 0 && as.uid !== node.uid) throw new FileError('EPERM');
    const before = attributesOf(node);
    node.acl = { access: acl.access ?? node.acl.access, default: acl.default ?? node.acl.default };
    const bits = (tag: AclEntry['tag']) => acl.access?.find((entry) => entry.tag === tag)?.permissions;
    if (acl.access && acl.access.length > 0) {
      const group = bits('mask') ?? bits('owning-group') ?? 0;
      node.mode = (node.mode & ~0o777) | ((bits('owner') ?? 0) << 6) | (group << 3) | (bits('other') ?? 0);
    }
    return this.#touched(node, before);
  }

  #newInode(file: NewFile, inode: number, uid: number, gid: number, mode: number): Inode {
    const time = this.#time();
    const made: Inode = {
      inode,
      generation: 1,
      type: file.type,
      data: new MemoryData(),
      entries: new MemoryDirectory(),
      target: 'target' in file ? Buffer.from(file.target) : Buffer.alloc(0),
      device: 'device' in file ? file.device : { major: 0, minor: 0 },
      created: time,
      parent: inode,
      mode,
      links: file.type === 'directory' ? 2 : 1,
      uid,
      gid,
      accessed: time,
      modified: time,
      changed: time,
      change: 1n,
      holds: 0,
      acl: { access: [], default: [] },
    };
    this.#inodes.set(inode, made);
    return made;
  }

  #get({ inode, generation }: FileId): Inode {
    const node = this.#inodes.get(inode);
    if (node?.generation !== generation) throw new FileError('ESTALE');
    return node;
  }

  #byNumber(inode: number): Inode {
    const node = this.#inodes.get(inode);
    if (node === undefined) throw new FileError('EIO', 'an entry without its file');
    return node;
  }

  #directory(file: FileId): Inode {
    const node = this.#get(file);
    if (node.type !== 'directory') throw new FileError('ENOTDIR');
    return node;
  }

  #searchable(as: Credentials, file: FileId): Inode {
    const node = this.#directory(file);
    if ((granted(as, node) & Access.execute) === 0) throw new FileError('EACCES');
    if (node.links === 0) throw new FileError('ENOENT');
    return node;
  }

  #mustNotBeBelow(node: Inode, target: Inode): void {
    for (let at = target; ; at = this.#byNumber(at.parent)) {
      if (at === node) throw new FileError('EINVAL', 'a directory cannot be moved into itself');
      if (at.parent === at.inode) return;
    }
  }

  #unlinked(directory: Inode, removed: Inode): void {
    if (removed.type === 'directory') {
      directory.links -= 1;
      removed.links = 0;
    } else {
      removed.links -= 1;
    }
    this.#touched(removed, attributesOf(removed));
    if (removed.links === 0 && removed.holds === 0) this.#inodes.delete(removed.inode);
  }

  #charge(node: Inode, sizeBytes: number): void {
    const grows = sizeBytes - node.data.size;
    if (grows <= 0) return;
    if (this.#usedBytes() + grows > this.#capacityBytes) throw new FileError('ENOSPC');
    const quota = this.quotas.get(node.uid);
    if (quota === undefined) return;
    if (grows > quota.hardBytes) throw new FileError('EDQUOT');
    const { usedBytes, softBytes, hardBytes } = quota;
    const left = { softBytes: softBytes - grows, hardBytes: hardBytes - grows };
    this.quotas.set(node.uid, { usedBytes: usedBytes + grows, ...left });
  }

  #usedBytes(): number {
    let used = 0;
    for (const { data } of this.#inodes.values()) used += data.allocatedBytes;
    return used;
  }

  #modified(node: Inode, before: Attributes): Change {
    node.modified = this.#time();
    return this.#touched(node, before);
  }

  #touched(node: Inode, before: Attributes): Change {
    node.changed = this.#time();
    node.change += 1n;
    return { before, after: attributesOf(node) };
  }

  #timeOf(change: TimeChange | undefined): Timestamp | undefined {
    return change === 'now' ? this.#time() : change;
  }

  /** Never the same twice, so that clients see every change. */
  #time(): Timestamp {
    const millis = this.#now();
    this.#lastTick = (this.#lastTick + 1) % 1_000_000;
    return { seconds: Math.floor(millis / 1000), nanoseconds: (millis % 1000) * 1_000_000 + this.#lastTick };
  }
}
