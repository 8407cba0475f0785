import { createHash } from 'node:crypto';
import { FileError, type Filesystem } from '../filesystem.ts';
import { DirectoryTree, type TreeDirectory } from './directory-tree.ts';
import { checkPath, type ExportAccess, type NfsExport } from './export.ts';

/** What lies above the exports has an id that no filesystem has. */
const PSEUDO_FILESYSTEM_ID = 0n;

interface BuiltDirectory extends TreeDirectory {
  readonly children: Map<string, BuiltDirectory>;
}

export interface ExportedPath {
  readonly path: string;
  readonly export: NfsExport;
  readonly access: ExportAccess;
}

/** The exports of a server by path and by filesystem. */
export class Exports {
  readonly #byPath = new Map<string, NfsExport>();
  readonly #byFilesystem = new Map<bigint, NfsExport>();
  readonly #now: () => number;
  #changedAt: bigint;

  /** Milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
    this.#changedAt = BigInt(now());
  }

  add(added: NfsExport): void {
    const { paths, filesystem } = added;
    for (const path of paths) {
      checkPath(path);
      const taken = [...this.#byPath.keys()].find((other) => isWithin(path, other) || isWithin(other, path));
      if (taken !== undefined) throw new RangeError(`${path} and the exported ${taken} lie one within the other`);
    }
    if (filesystem.id === PSEUDO_FILESYSTEM_ID) throw new RangeError('a filesystem must have an id other than 0');
    if (this.#byFilesystem.has(filesystem.id)) throw new RangeError('the filesystem is exported already');
    this.#byFilesystem.set(filesystem.id, added);
    for (const path of paths) this.#byPath.set(path, added);
    this.#changed();
  }

  remove(filesystemId: bigint): NfsExport | undefined {
    const removed = this.#byFilesystem.get(filesystemId);
    this.#byFilesystem.delete(filesystemId);
    for (const [path, found] of this.#byPath) if (found === removed) this.#byPath.delete(path);
    this.#changed();
    return removed;
  }

  #changed(): void {
    const now = BigInt(this.#now());
    this.#changedAt = now > this.#changedAt ? now : this.#changedAt + 1n;
  }

  all(): Iterable<NfsExport> {
    return this.#byFilesystem.values();
  }

  ofFilesystem(id: bigint): NfsExport | undefined {
    return this.#byFilesystem.get(id);
  }

  /** With the path of the export it belongs to, and what remains below it. */
  byPath(path: string): { readonly export: NfsExport; readonly below: readonly string[] } | undefined {
    const names = path.split('/').filter((name) => name !== '');
    for (let length = names.length; length > 0; length--) {
      const found = this.#byPath.get(`/${names.slice(0, length).join('/')}`);
      if (found !== undefined) return { export: found, below: names.slice(length) };
    }
    return undefined;
  }

  isKnown(address: string): boolean {
    for (const one of this.all()) if (one.authorise(address) !== undefined) return true;
    return false;
  }

  visibleTo(address: string): ExportedPath[] {
    const visible: ExportedPath[] = [];
    for (const [path, found] of this.#byPath) {
      const access = found.authorise(address);
      if (access !== undefined) visible.push({ path, export: found, access });
    }
    return visible;
  }

  /** The directories above the exports that a client may use, and which filesystem is mounted where. */
  pseudoTree(address: string): PseudoTree {
    const top = directory('/', undefined);
    const mounts = new Map<number, NfsExport>();
    for (const { path, export: mounted } of this.visibleTo(address)) {
      let at = top;
      let walked = '';
      for (const name of path.split('/').slice(1)) {
        walked += `/${name}`;
        let child = at.children.get(name);
        if (child === undefined) at.children.set(name, (child = directory(walked, at)));
        at = child;
      }
      mounts.set(at.inode, mounted);
    }
    return { tree: new DirectoryTree(PSEUDO_FILESYSTEM_ID, top, this.#changedAt), mounts };
  }
}

export interface PseudoTree {
  readonly tree: DirectoryTree;
  readonly mounts: ReadonlyMap<number, NfsExport>;
}

function directory(path: string, parent: BuiltDirectory | undefined): BuiltDirectory {
  return { inode: inodeOf(path), parent, children: new Map() };
}

/** The same after every restart, since file handles hold it. */
export function inodeOf(path: string): number {
  return createHash('sha256').update(path).digest().readUIntBE(0, 6);
}

function isWithin(path: string, other: string): boolean {
  return path === other || path.startsWith(`${other}/`);
}

export function mustExist(filesystem: Filesystem | undefined): Filesystem {
  if (filesystem === undefined) throw new FileError('ESTALE', 'the filesystem is not exported any more');
  return filesystem;
}
