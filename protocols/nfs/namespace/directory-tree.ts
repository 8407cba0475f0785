import {
  Access,
  FileError,
  type Acl,
  type Attributes,
  type Change,
  type Created,
  type Credentials,
  type DirectoryPage,
  type FileId,
  type Filesystem,
  type QuotaState,
  type SpaceUsage,
} from '../filesystem.ts';

/** Cookies below this are `.` and `..`. */
const FIRST_COOKIE = 3n;
const DIRECTORY_BYTES = 4096;
const NO_SPACE: SpaceUsage = { totalBytes: 0, freeBytes: 0, availableBytes: 0, totalFiles: 0, freeFiles: 0 };

export interface TreeDirectory {
  readonly inode: number;
  readonly parent: TreeDirectory | undefined;
  readonly children: ReadonlyMap<string, TreeDirectory>;
}

/**
 * A filesystem of directories alone, to read: what lies above the exports, and `.snapshot`. Every client may read it; who
 * may see which directory is decided by who builds it.
 */
export class DirectoryTree implements Filesystem {
  readonly id: bigint;
  readonly limits = { nameBytesMax: 255, fileBytesMax: 0, linksMax: 1, symlinkBytesMax: 0 };
  readonly writeVerifier = 0n;
  readonly top: TreeDirectory;
  readonly #byInode = new Map<number, TreeDirectory>();
  readonly #change: bigint;

  /** `change` must grow whenever the tree becomes another one. */
  constructor(id: bigint, top: TreeDirectory, change: bigint) {
    this.id = id;
    this.top = top;
    this.#change = change;
    this.#add(top);
  }

  #add(directory: TreeDirectory): void {
    this.#byInode.set(directory.inode, directory);
    for (const child of directory.children.values()) this.#add(child);
  }

  get root(): FileId {
    return { inode: this.top.inode, generation: 0 };
  }

  directory({ inode }: FileId): TreeDirectory {
    const directory = this.#byInode.get(inode);
    if (directory === undefined) throw new FileError('ESTALE', 'the directory is not there any more');
    return directory;
  }

  attributes(file: FileId): Attributes {
    const { children, inode } = this.directory(file);
    const time = { seconds: Number(this.#change / 1000n), nanoseconds: 0 };
    return {
      inode,
      generation: 0,
      type: 'directory',
      mode: 0o555,
      links: 2 + children.size,
      uid: 0,
      gid: 0,
      sizeBytes: DIRECTORY_BYTES,
      allocatedBytes: 0,
      device: { major: 0, minor: 0 },
      accessed: time,
      modified: time,
      changed: time,
      created: time,
      change: this.#change,
    };
  }

  access(): number {
    return Access.read | Access.execute;
  }

  lookup(_as: Credentials, directory: FileId, name: Buffer): Attributes {
    const place = this.directory(directory);
    const found = name.equals(UP) ? (place.parent ?? place) : place.children.get(name.toString('utf8'));
    if (found === undefined) throw new FileError('ENOENT');
    return this.attributes({ inode: found.inode, generation: 0 });
  }

  readDirectory(_as: Credentials, directory: FileId, after: bigint, count: number): DirectoryPage {
    const names = [...this.directory(directory).children].sort(([a], [b]) => (a < b ? -1 : 1));
    const entries = names.map(([name, { inode }], index) => ({
      name: Buffer.from(name),
      cookie: FIRST_COOKIE + BigInt(index),
      attributes: this.attributes({ inode, generation: 0 }),
    }));
    const rest = entries.filter(({ cookie }) => cookie > after);
    return { entries: rest.slice(0, count), isEnd: rest.length <= count };
  }

  space(): SpaceUsage {
    return NO_SPACE;
  }

  quota(): QuotaState | undefined {
    return undefined;
  }

  acl(): Acl {
    return { access: [], default: [] };
  }

  hold(): void {
    // There is nothing that could go away.
  }

  release(): void {
    // See `hold`.
  }

  commit(): void {
    // There is nothing that could be written.
  }

  create(): Created {
    throw readOnly();
  }

  link(): Created {
    throw readOnly();
  }

  remove(): Change {
    throw readOnly();
  }

  rename(): { from: Change; to: Change } {
    throw readOnly();
  }

  setAttributes(): Change {
    throw readOnly();
  }

  setAcl(): Change {
    throw readOnly();
  }

  write(): Change {
    throw readOnly();
  }

  read(): number {
    throw new FileError('EISDIR');
  }

  readSymlink(): Buffer {
    throw new FileError('EINVAL');
  }
}

const UP = Buffer.from('..');

function readOnly(): FileError {
  return new FileError('EROFS', 'this directory is part of the server, not of a filesystem');
}
