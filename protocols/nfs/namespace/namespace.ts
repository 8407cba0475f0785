import {
  FileError,
  type Attributes,
  type Awaitable,
  type Credentials,
  type FileId,
  type Filesystem,
} from '../filesystem.ts';
import { AuthFlavor, type CallerCredentials } from '../rpc/message.ts';
import { DirectoryTree, type TreeDirectory } from './directory-tree.ts';
import { DEFAULT_ACCESS, type ExportAccess, type NfsExport } from './export.ts';
import { inodeOf, mustExist, type Exports } from './exports.ts';
import { decodeHandle, encodeHandle, type HandleKind } from './file-handle.ts';

export interface Caller {
  readonly address: string;
  readonly credentials: CallerCredentials;
}

/** A file as one client sees it. */
export interface Place {
  readonly kind: HandleKind;
  readonly filesystem: Filesystem;
  readonly file: FileId;
  /** Undefined above the exports. */
  readonly export: NfsExport | undefined;
  readonly access: ExportAccess;
  readonly as: Credentials;
}

export interface FoundPlace {
  readonly place: Place;
  readonly attributes: Attributes;
}

const SNAPSHOT_DIRECTORY = Buffer.from('.snapshot');
const PARENT = Buffer.from('..');
const READ_ONLY: ExportAccess = { ...DEFAULT_ACCESS, readOnly: true, squash: 'none' };
const UNKNOWN_ID = 0xffff_ffff;
const SNAPSHOT_OWNERS_MAX = 1024;

export interface NamespaceOptions {
  readonly exports: Exports;
  /** All groups of a user, where a directory of names knows them; a request carries sixteen at most. */
  groupsOf?(uid: number): Awaitable<readonly number[] | undefined>;
}

/** Finds files by handle and by name, across the borders of filesystems, with what the client may do there. */
export class Namespace {
  readonly exports: Exports;
  readonly #options: NamespaceOptions;
  /** Whose snapshots were found last. Snapshots that are gone are found out when they are opened. */
  readonly #snapshotOwners = new Map<bigint, NfsExport>();

  constructor(options: NamespaceOptions) {
    this.#options = options;
    this.exports = options.exports;
  }

  handle({ kind, filesystem, file }: Place): Buffer {
    return encodeHandle({ kind, filesystemId: filesystem.id, inode: file.inode, generation: file.generation });
  }

  /** The file need not exist any more. */
  async resolve(handle: Buffer, caller: Caller): Promise<Place> {
    const { kind, filesystemId, inode, generation } = decodeHandle(handle);
    const file = { inode, generation };
    if (kind === 'pseudo') return this.#pseudo(caller, file);
    const owner = this.exports.ofFilesystem(filesystemId) ?? (await this.#ownerOfSnapshot(filesystemId));
    if (owner !== undefined && owner.authorise(caller.address) === undefined) throw notForThem(owner, caller, file);
    if (kind === 'snapshots') return this.#snapshots(mustHave(owner), caller);
    if (owner?.filesystem.id === filesystemId) return this.#inExport(owner, caller, file);
    const filesystem = mustExist(await owner?.snapshots?.open(filesystemId));
    return this.#inSnapshot(mustHave(owner), filesystem, caller, file);
  }

  async #ownerOfSnapshot(filesystemId: bigint): Promise<NfsExport | undefined> {
    const known = this.#snapshotOwners.get(filesystemId);
    if (known !== undefined && this.exports.ofFilesystem(known.filesystem.id) === known) return known;
    const owner = await this.#findOwnerOfSnapshot(filesystemId);
    if (owner === undefined) return undefined;
    if (this.#snapshotOwners.size >= SNAPSHOT_OWNERS_MAX) this.#snapshotOwners.clear();
    this.#snapshotOwners.set(filesystemId, owner);
    return owner;
  }

  async #findOwnerOfSnapshot(filesystemId: bigint): Promise<NfsExport | undefined> {
    for (const one of this.exports.all()) {
      const listed = (await one.snapshots?.list()) ?? [];
      if (listed.some((snapshot) => snapshot.filesystemId === filesystemId)) return one;
    }
    return undefined;
  }

  /** Where version 4 begins. */
  root(caller: Caller): Place {
    const { tree } = this.exports.pseudoTree(caller.address);
    return this.#pseudo(caller, tree.root);
  }

  rootOf(owner: NfsExport, caller: Caller): Promise<Place> {
    return this.#inExport(owner, caller, owner.filesystem.root);
  }

  async lookup(place: Place, caller: Caller, name: Buffer): Promise<FoundPlace> {
    if (place.kind === 'pseudo') return this.#lookupPseudo(place, caller, name);
    if (place.kind === 'snapshots') return this.#lookupSnapshot(place, caller, name);
    if (name.equals(PARENT) && isRoot(place)) return this.#above(place, caller);
    if (name.equals(SNAPSHOT_DIRECTORY) && isRoot(place) && place.export?.snapshots !== undefined) {
      if (place.filesystem.id === place.export.filesystem.id) {
        return found(await this.#snapshots(place.export, caller));
      }
    }
    const attributes = await place.filesystem.lookup(place.as, place.file, name);
    return { place: moved(place, attributes), attributes };
  }

  async #lookupPseudo(place: Place, caller: Caller, name: Buffer): Promise<FoundPlace> {
    const { tree, mounts } = this.exports.pseudoTree(caller.address);
    const attributes = tree.lookup(place.as, place.file, name);
    const mounted = mounts.get(attributes.inode);
    if (mounted !== undefined) return found(await this.#inExport(mounted, caller, mounted.filesystem.root));
    return { place: { ...place, filesystem: tree, file: attributes }, attributes };
  }

  async #lookupSnapshot(place: Place, caller: Caller, name: Buffer): Promise<FoundPlace> {
    const owner = mustHave(place.export);
    if (name.equals(PARENT)) return found(await this.#inExport(owner, caller, owner.filesystem.root));
    const listed = (await owner.snapshots?.list()) ?? [];
    const wanted = listed.find((snapshot) => name.equals(Buffer.from(snapshot.name)));
    const filesystem = wanted && (await owner.snapshots?.open(wanted.filesystemId));
    if (filesystem === undefined) throw new FileError('ENOENT');
    return found(await this.#inSnapshot(owner, filesystem, caller, filesystem.root));
  }

  async #above(place: Place, caller: Caller): Promise<FoundPlace> {
    const owner = mustHave(place.export);
    if (place.filesystem.id !== owner.filesystem.id) return found(await this.#snapshots(owner, caller));
    const { tree, mounts } = this.exports.pseudoTree(caller.address);
    for (const [inode, mounted] of mounts) {
      const parent = mounted === owner ? tree.directory({ inode, generation: 0 }).parent : undefined;
      if (parent !== undefined) return found(this.#pseudo(caller, { inode: parent.inode, generation: 0 }));
    }
    throw new FileError('ESTALE', 'not exported any more');
  }

  #pseudo(caller: Caller, file: FileId): Place {
    const { tree } = this.exports.pseudoTree(caller.address);
    const as = { uid: UNKNOWN_ID, gid: UNKNOWN_ID, groups: [] };
    return { kind: 'pseudo', filesystem: tree, file, export: undefined, access: READ_ONLY, as };
  }

  async #snapshots(owner: NfsExport, caller: Caller): Promise<Place> {
    const listed = (await owner.snapshots?.list()) ?? [];
    const children = new Map<string, TreeDirectory>();
    const top: TreeDirectory = { inode: inodeOf('.snapshot'), parent: undefined, children };
    for (const { name } of listed) {
      children.set(name, { inode: inodeOf(`.snapshot/${name}`), parent: top, children: new Map() });
    }
    const tree = new DirectoryTree(owner.filesystem.id, top, BigInt(inodeOf(listed.map(({ name }) => name).join('/'))));
    const as = await this.#credentials(owner, caller);
    return { kind: 'snapshots', filesystem: tree, file: tree.root, export: owner, access: READ_ONLY, as };
  }

  async #inExport(owner: NfsExport, caller: Caller, file: FileId): Promise<Place> {
    const access = this.#accessOf(owner, caller);
    const as = await this.#credentials(owner, caller);
    return { kind: 'file', filesystem: owner.filesystem, file, export: owner, access, as };
  }

  async #inSnapshot(owner: NfsExport, filesystem: Filesystem, caller: Caller, file: FileId): Promise<Place> {
    const access = { ...this.#accessOf(owner, caller), readOnly: true };
    const as = await this.#credentials(owner, caller);
    return { kind: 'file', filesystem, file, export: owner, access, as };
  }

  #accessOf(owner: NfsExport, caller: Caller): ExportAccess {
    const access = owner.authorise(caller.address);
    if (access === undefined) throw notForThem(owner, caller, owner.filesystem.root);
    return access;
  }

  async #credentials(owner: NfsExport, caller: Caller): Promise<Credentials> {
    const access = this.#accessOf(owner, caller);
    const { flavor, uid, gid, groups } = caller.credentials;
    const client = caller.address;
    const isSquashed = access.squash === 'all' || (access.squash === 'root' && uid === 0);
    if (flavor !== AuthFlavor.sys || isSquashed) {
      return { uid: access.anonymousUid, gid: access.anonymousGid, groups: [], client };
    }
    const all = (await this.#options.groupsOf?.(uid)) ?? groups;
    if (access.squash !== 'root') return { uid, gid, groups: all, client };
    // Who is not root must not have root's group either.
    const others = all.filter((group) => group !== 0);
    return { uid, gid: gid === 0 ? access.anonymousGid : gid, groups: others, client };
  }
}

async function found(place: Place): Promise<FoundPlace> {
  return { place, attributes: await place.filesystem.attributes(place.file) };
}

export function moved(place: Place, to: FileId): Place {
  return { ...place, file: { inode: to.inode, generation: to.generation } };
}

export function isRoot({ filesystem, file }: Place): boolean {
  return file.inode === filesystem.root.inode;
}

function mustHave(owner: NfsExport | undefined): NfsExport {
  if (owner === undefined) throw new FileError('ESTALE', 'the filesystem is not exported any more');
  return owner;
}

/** It gets the ids that the client sent: they have not been mapped to a user yet. */
function notForThem({ filesystem }: NfsExport, { credentials, address: client }: Caller, file: FileId): FileError {
  const { uid, gid, groups } = credentials;
  filesystem.refused?.({ uid, gid, groups, client }, file, 'any', 'EACCES');
  return new FileError('EACCES', 'not exported to this client');
}
