import { FsError } from '../errors.ts';
import { KIND, ROOT_INODE } from '../store/layout.ts';
import type { Reader, Transaction } from '../store/transaction.ts';
import { type Credentials, isSuperuser, MAY_EXECUTE, MAY_WRITE, requireAccess, requireRemoval } from './access.ts';
import { inheritAcl } from './acl.ts';
import { type Context, requireSpace } from './context.ts';
import { addEntry, type Entry, findEntry, removeEntry, replaceEntry } from './entries.ts';
import type { InodeNumbers } from './inode-numbers.ts';
import {
  type Attributes,
  attributesOf,
  type Changed,
  changedOf,
  type Created,
  type Inode,
  loadDirectory,
  loadInode,
  saveInode,
  stamp,
} from './inode.ts';
import { getLong, putLong } from './long-value.ts';
import { checkName, isDots } from './names.ts';
import { newInode, type NewNode } from './new-inode.ts';
import { addParent, removeParent } from './parents.ts';
import { chargeQuota } from './quotas.ts';
import type { Removal } from '../contents/removal.ts';

/** Of a file. A directory has a link for each of its subdirectories, without a limit. */
const LINKS_MAX = 65_000;
const TARGET_PIECES_MAX = 8;

/** The result of removing a name: its directory, and the inode to reap after the transaction, if any. */
export interface Removed {
  readonly directory: Changed;
  readonly orphan: number | undefined;
}

export interface Renamed {
  readonly from: Changed;
  readonly to: Changed;
  readonly orphan: number | undefined;
}

/** Names and their inodes. Every method is part of a transaction, and may throw `MISS`. */
export class FilesystemNamespace {
  readonly #context: Context;
  readonly #numbers: InodeNumbers;
  readonly #removal: Removal;

  constructor(context: Context, numbers: InodeNumbers, removal: Removal) {
    this.#context = context;
    this.#numbers = numbers;
    this.#removal = removal;
  }

  lookup(reader: Reader, credentials: Credentials, directory: number, name: Buffer): Inode {
    const parent = this.#search(reader, credentials, directory);
    if (isDots(name)) return name.length === 1 ? parent : loadInode(reader, parent.parent);
    checkName(name);
    return loadInode(reader, this.#find(reader, parent, name).inode);
  }

  create(transaction: Transaction, credentials: Credentials, directory: number, name: Buffer, node: NewNode): Created {
    const parent = this.#search(transaction, credentials, directory);
    const before = attributesOf(parent);
    refuseExisting(name);
    checkName(name);
    if (this.#findMaybe(transaction, parent, name) !== undefined) throw exists();
    this.#requireChange(transaction, credentials, parent);
    if ((node.type === 'block' || node.type === 'character') && !isSuperuser(credentials)) {
      throw new FsError('EPERM', 'Only the superuser makes device nodes.');
    }
    requireSpace(this.#context);
    const inode = newInode(this.#numbers.allocate(transaction), credentials, parent, node, this.#context.now());
    if (node.target !== undefined) putLong(transaction, inode.inode, KIND.data, 0, node.target);
    inheritAcl(transaction, parent, inode);
    chargeQuota(transaction, inode, 0, 1);
    this.#addName(transaction, parent, name, inode);
    saveInode(transaction, inode);
    if (inode.type === 'directory') addLink(parent);
    this.#stamp(transaction, parent, true);
    return createdOf(inode, before, parent);
  }

  link(transaction: Transaction, credentials: Credentials, number: number, directory: number, name: Buffer): Created {
    const inode = loadInode(transaction, number);
    const parent = this.#search(transaction, credentials, directory);
    const before = attributesOf(parent);
    refuseExisting(name);
    checkName(name);
    if (inode.type === 'directory') throw new FsError('EPERM', 'A directory has one name.');
    if (this.#findMaybe(transaction, parent, name) !== undefined) throw exists();
    this.#requireChange(transaction, credentials, parent);
    if (inode.links === 0) throw new FsError('ENOENT', 'The file has no name any more.');
    if (inode.project !== parent.project) throw crossesProjects();
    requireSpace(this.#context);
    addLink(inode);
    this.#addName(transaction, parent, name, inode);
    this.#stamp(transaction, parent, true);
    this.#stamp(transaction, inode, false);
    return createdOf(inode, before, parent);
  }

  unlink(transaction: Transaction, credentials: Credentials, directory: number, name: Buffer): Removed {
    const parent = this.#search(transaction, credentials, directory);
    if (isDots(name)) throw new FsError('EISDIR', 'The names . and .. stay.');
    checkName(name);
    const entry = this.#find(transaction, parent, name);
    const victim = loadInode(transaction, entry.inode);
    this.#requireChange(transaction, credentials, parent);
    requireRemoval(credentials, parent, victim);
    if (victim.type === 'directory') throw new FsError('EISDIR', 'This is a directory; remove it as one.');
    return this.#remove(transaction, parent, entry, victim);
  }

  removeDirectory(transaction: Transaction, credentials: Credentials, directory: number, name: Buffer): Removed {
    const parent = this.#search(transaction, credentials, directory);
    if (isDots(name)) throw new FsError(name.length === 1 ? 'EINVAL' : 'ENOTEMPTY', 'The names . and .. stay.');
    checkName(name);
    const entry = this.#find(transaction, parent, name);
    const victim = loadInode(transaction, entry.inode);
    this.#requireChange(transaction, credentials, parent);
    requireRemoval(credentials, parent, victim);
    if (victim.type !== 'directory') throw new FsError('ENOTDIR', 'This is no directory.');
    if (victim.entries > 0) throw notEmpty();
    return this.#remove(transaction, parent, entry, victim);
  }

  rename(
    transaction: Transaction,
    credentials: Credentials,
    from: { readonly directory: number; readonly name: Buffer },
    to: { readonly directory: number; readonly name: Buffer },
  ): Renamed {
    const source = this.#search(transaction, credentials, from.directory);
    const target = from.directory === to.directory ? source : this.#search(transaction, credentials, to.directory);
    if (isDots(from.name) || isDots(to.name)) throw new FsError('EINVAL', 'The names . and .. stay.');
    checkName(from.name);
    checkName(to.name);
    const entry = this.#find(transaction, source, from.name);
    const existing = this.#findMaybe(transaction, target, to.name);
    const before = { source: attributesOf(source), target: attributesOf(target) };
    const renamed = (orphan: number | undefined): Renamed => {
      const change = changedOf(before.source, source);
      return { from: change, to: source === target ? change : changedOf(before.target, target), orphan };
    };
    if (existing?.inode === entry.inode) return renamed(undefined);
    const moved = loadInode(transaction, entry.inode);
    const victim = existing && loadInode(transaction, existing.inode);
    this.#requireChange(transaction, credentials, source);
    this.#requireChange(transaction, credentials, target);
    requireRemoval(credentials, source, moved);
    if (victim !== undefined) requireRemoval(credentials, target, victim);
    if (moved.type === 'directory' && source !== target) {
      requireAccess(transaction, credentials, moved, MAY_WRITE);
      this.#refuseBelow(transaction, moved, target);
    }
    if (victim !== undefined) refuseReplacing(moved, victim);
    if (moved.project !== target.project) throw crossesProjects();
    if (existing === undefined) requireSpace(this.#context);
    return renamed(this.#move(transaction, { entry, moved, source }, { name: to.name, existing, victim, target }));
  }

  readTarget(reader: Reader, number: number): Buffer {
    const inode = loadInode(reader, number);
    if (inode.type !== 'symlink') throw new FsError('EINVAL', `Inode ${number} is no symbolic link.`);
    return getLong(reader, number, KIND.data, 0, TARGET_PIECES_MAX);
  }

  #move(
    transaction: Transaction,
    { entry, moved, source }: { entry: Entry; moved: Inode; source: Inode },
    to: { name: Buffer; existing: Entry | undefined; victim: Inode | undefined; target: Inode },
  ): number | undefined {
    const { name, existing, victim, target } = to;
    this.#removeName(transaction, source, entry, moved);
    if (existing === undefined || victim === undefined) {
      this.#addName(transaction, target, name, moved);
    } else {
      const link = { parent: target.inode, cookie: existing.cookie };
      replaceEntry(transaction, target.inode, existing, moved);
      removeParent(transaction, victim, link);
      addParent(transaction, moved, link);
    }
    if (moved.type === 'directory') {
      source.links -= 1;
      if (victim !== undefined) target.links -= 1;
      addLink(target);
    }
    this.#stamp(transaction, source, true);
    if (target !== source) this.#stamp(transaction, target, true);
    this.#stamp(transaction, moved, false);
    return victim && this.#unlinkInode(transaction, victim);
  }

  #remove(transaction: Transaction, parent: Inode, entry: Entry, victim: Inode): Removed {
    const before = attributesOf(parent);
    this.#removeName(transaction, parent, entry, victim);
    if (victim.type === 'directory') parent.links -= 1;
    this.#stamp(transaction, parent, true);
    return { directory: changedOf(before, parent), orphan: this.#unlinkInode(transaction, victim) };
  }

  #addName(transaction: Transaction, directory: Inode, name: Buffer, inode: Inode): void {
    const cookie = addEntry(transaction, directory.inode, name, inode, this.#context.store.hashKey);
    directory.entries += 1;
    addParent(transaction, inode, { parent: directory.inode, cookie });
  }

  #removeName(transaction: Transaction, directory: Inode, entry: Entry, inode: Inode): void {
    removeEntry(transaction, directory.inode, entry);
    directory.entries -= 1;
    removeParent(transaction, inode, { parent: directory.inode, cookie: entry.cookie });
  }

  #unlinkInode(transaction: Transaction, victim: Inode): number | undefined {
    victim.links = victim.type === 'directory' ? 0 : victim.links - 1;
    stamp(victim, this.#context.now(), false);
    if (victim.links > 0) {
      saveInode(transaction, victim);
      return undefined;
    }
    return this.#removal.drop(transaction, victim) ? victim.inode : undefined;
  }

  /** A directory that the caller may search. */
  #search(reader: Reader, credentials: Credentials, number: number): Inode {
    const directory = loadDirectory(reader, number);
    requireAccess(reader, credentials, directory, MAY_EXECUTE);
    return directory;
  }

  #requireChange(reader: Reader, credentials: Credentials, directory: Inode): void {
    requireAccess(reader, credentials, directory, MAY_WRITE | MAY_EXECUTE);
    if (directory.links === 0) throw new FsError('ENOENT', 'The directory was removed.');
  }

  #find(reader: Reader, directory: Inode, name: Buffer): Entry {
    const entry = this.#findMaybe(reader, directory, name);
    if (entry === undefined) throw new FsError('ENOENT', 'There is no file of this name.');
    return entry;
  }

  #findMaybe(reader: Reader, directory: Inode, name: Buffer): Entry | undefined {
    return findEntry(reader, directory.inode, name, this.#context.store.hashKey);
  }

  /** A directory cannot be moved into itself. */
  #refuseBelow(reader: Reader, moved: Inode, target: Inode): void {
    for (let number = target.inode; number !== ROOT_INODE; number = loadInode(reader, number).parent) {
      if (number === moved.inode) throw new FsError('EINVAL', 'A directory cannot be moved into itself.');
    }
  }

  #stamp(transaction: Transaction, inode: Inode, isModified: boolean): void {
    stamp(inode, this.#context.now(), isModified);
    saveInode(transaction, inode);
  }
}

function createdOf(inode: Inode, before: Attributes, directory: Inode): Created {
  return Object.assign(attributesOf(inode), { directory: changedOf(before, directory) });
}

function refuseReplacing(moved: Inode, victim: Inode): void {
  if (moved.type === 'directory') {
    if (victim.type !== 'directory') throw new FsError('ENOTDIR', 'A directory replaces directories only.');
    if (victim.entries > 0) throw notEmpty();
  } else if (victim.type === 'directory') {
    throw new FsError('EISDIR', 'A file does not replace a directory.');
  }
}

function refuseExisting(name: Buffer): void {
  if (isDots(name)) throw exists();
}

function addLink(inode: Inode): void {
  if (inode.type !== 'directory' && inode.links >= LINKS_MAX)
    throw new FsError('EMLINK', `There are ${LINKS_MAX} links already.`);
  inode.links += 1;
}

function exists(): FsError {
  return new FsError('EEXIST', 'There is a file of this name already.');
}

function notEmpty(): FsError {
  return new FsError('ENOTEMPTY', 'The directory is not empty.');
}

function crossesProjects(): FsError {
  return new FsError('EXDEV', 'The directory belongs to another quota project; copy the file instead.');
}
