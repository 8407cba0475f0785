import { setTimeout as sleep } from 'node:timers/promises';
import { FileError, fileErrorCode } from '@granary/protocols/nfs';
import type * as nfs from '@granary/protocols/nfs';
import { ArchivedError } from '@granary/storage/filesystem';

/** How long a request waits for a share that cannot be used now before it fails with EAGAIN. */
const WAIT_MS_MAX = 5_000;
/** What the root directory of every filesystem is known by. */
const ROOT = { inode: 1, generation: 1 };

interface Held {
  readonly file: nfs.FileId;
  /** Of who opened it first. */
  readonly as: nfs.Credentials;
  readonly access: number;
  count: number;
}

/** A client has read or written. */
export type OnIo = (as: nfs.Credentials, kind: 'reads' | 'writes', bytes: number, milliseconds: number) => void;

export interface ServedFilesystemOptions {
  readonly id: bigint;
  readonly onIo: OnIo;
  /** A client is at work, whatever it does. */
  readonly onUse?: (as: nfs.Credentials) => void;
  /** Resolves when the contents of the file are there; without it those of archived files cannot be changed. */
  readonly onArchived?: (error: ArchivedError) => Promise<void>;
  /** Reads the contents from where they are instead. */
  readonly readArchived?: (error: ArchivedError, offset: number, into: Buffer) => Promise<number>;
}

/**
 * A share as protocols see it: the same for as long as the share is there, whichever mount is behind it. While there is
 * none, because its volume is locked, cannot be read or is being reverted, requests wait and are then answered with
 * "try again": handles, opens and locks stay valid.
 */
export class ServedFilesystem implements nfs.Filesystem {
  readonly id: bigint;
  readonly limits = { nameBytesMax: 255, fileBytesMax: 2 ** 44, linksMax: 65_000, symlinkBytesMax: 4095 };
  root: nfs.FileId = ROOT;
  readonly #onIo: OnIo;
  readonly #onUse: ServedFilesystemOptions['onUse'];
  readonly #onArchived: ServedFilesystemOptions['onArchived'];
  readonly #readArchived: ServedFilesystemOptions['readArchived'];
  /** Files that clients have open: the next mount has to know of them. */
  readonly #held = new Map<number, Held>();
  #current: nfs.Filesystem | undefined;
  #verifier = 0n;
  #resumed: PromiseWithResolvers<void> = Promise.withResolvers();
  #running = 0;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor({ id, onIo, onUse, onArchived, readArchived }: ServedFilesystemOptions) {
    this.id = id;
    this.#onUse = onUse;
    this.#onArchived = onArchived;
    this.#readArchived = readArchived;
    this.#onIo = onIo;
  }

  get writeVerifier(): bigint {
    return this.#verifier;
  }

  get isUsable(): boolean {
    return this.#current !== undefined;
  }

  /** Requests go to this mount from now on. */
  async resume(filesystem: nfs.Filesystem): Promise<void> {
    for (const held of this.#held.values()) {
      for (let times = 0; times < held.count; times += 1) await this.#holdAgain(filesystem, held);
    }
    this.root = filesystem.root;
    this.#verifier = filesystem.writeVerifier;
    this.#current = filesystem;
    this.#resumed.resolve();
  }

  /** Requests wait from now on; resolves when none is under way. */
  async suspend(): Promise<void> {
    if (this.#current !== undefined) this.#resumed = Promise.withResolvers();
    this.#current = undefined;
    if (this.#running === 0) return;
    this.#idle ??= Promise.withResolvers();
    await this.#idle.promise;
  }

  attributes(file: nfs.FileId): nfs.Awaitable<nfs.Attributes> {
    return this.#use((filesystem) => filesystem.attributes(file));
  }

  access(as: nfs.Credentials, file: nfs.FileId): nfs.Awaitable<number> {
    this.#onUse?.(as);
    return this.#use((filesystem) => filesystem.access(as, file));
  }

  setAttributes(as: nfs.Credentials, file: nfs.FileId, changes: nfs.AttributeChanges): nfs.Awaitable<nfs.Change> {
    if (changes.sizeBytes === undefined) return this.#use((filesystem) => filesystem.setAttributes(as, file, changes));
    return this.#withContents((filesystem) => filesystem.setAttributes(as, file, changes));
  }

  lookup(as: nfs.Credentials, directory: nfs.FileId, name: Buffer): nfs.Awaitable<nfs.Attributes> {
    this.#onUse?.(as);
    return this.#use((filesystem) => filesystem.lookup(as, directory, name));
  }

  create(...args: Parameters<nfs.Filesystem['create']>): nfs.Awaitable<nfs.Created> {
    return this.#use((filesystem) => filesystem.create(...args));
  }

  link(...args: Parameters<nfs.Filesystem['link']>): nfs.Awaitable<nfs.Created> {
    return this.#use((filesystem) => filesystem.link(...args));
  }

  remove(...args: Parameters<nfs.Filesystem['remove']>): nfs.Awaitable<nfs.Change> {
    return this.#use((filesystem) => filesystem.remove(...args));
  }

  rename(...args: Parameters<nfs.Filesystem['rename']>): ReturnType<nfs.Filesystem['rename']> {
    return this.#use((filesystem) => filesystem.rename(...args));
  }

  readDirectory(...args: Parameters<nfs.Filesystem['readDirectory']>): nfs.Awaitable<nfs.DirectoryPage> {
    return this.#use((filesystem) => filesystem.readDirectory(...args));
  }

  readSymlink(file: nfs.FileId): nfs.Awaitable<Buffer> {
    return this.#use((filesystem) => filesystem.readSymlink(file));
  }

  read(...args: Parameters<nfs.Filesystem['read']>): nfs.Awaitable<number> {
    const began = performance.now();
    const readArchived = this.#readArchived;
    return this.#counting(
      args[0],
      'reads',
      began,
      (filesystem) => filesystem.read(...args),
      (bytes) => bytes,
      readArchived && ((error) => readArchived(error, args[2], args[3])),
    );
  }

  write(...args: Parameters<nfs.Filesystem['write']>): nfs.Awaitable<nfs.Change> {
    const began = performance.now();
    const { length } = args[3];
    return this.#counting(
      args[0],
      'writes',
      began,
      (filesystem) => filesystem.write(...args),
      () => length,
    );
  }

  commit(file: nfs.FileId): nfs.Awaitable<void> {
    return this.#use((filesystem) => filesystem.commit(file));
  }

  async hold(as: nfs.Credentials, file: nfs.FileId, access: number): Promise<void> {
    await this.#use((filesystem) => filesystem.hold(as, file, access));
    const held = this.#held.get(file.inode) ?? { file, as, access, count: 0 };
    held.count += 1;
    this.#held.set(file.inode, held);
  }

  async release(as: nfs.Credentials, file: nfs.FileId): Promise<void> {
    const held = this.#held.get(file.inode);
    // It was not there any more when its volume went back to a snapshot.
    if (held?.file.generation !== file.generation) return;
    held.count -= 1;
    if (held.count === 0) this.#held.delete(file.inode);
    // Without a mount there is nothing to release: the next one does not hold it.
    if (this.#current !== undefined) await this.#use((filesystem) => filesystem.release(as, file));
  }

  space(): nfs.Awaitable<nfs.SpaceUsage> {
    return this.#use((filesystem) => filesystem.space());
  }

  quota(as: nfs.Credentials, file: nfs.FileId): nfs.Awaitable<nfs.QuotaState | undefined> {
    return this.#use((filesystem) => filesystem.quota(as, file));
  }

  acl(file: nfs.FileId): nfs.Awaitable<nfs.Acl> {
    return this.#use((filesystem) => filesystem.acl(file));
  }

  setAcl(as: nfs.Credentials, file: nfs.FileId, acl: Partial<nfs.Acl>): nfs.Awaitable<nfs.Change> {
    return this.#use((filesystem) => filesystem.setAcl(as, file, acl));
  }

  #counting<T>(
    as: nfs.Credentials,
    kind: 'reads' | 'writes',
    began: number,
    work: (filesystem: nfs.Filesystem) => nfs.Awaitable<T>,
    bytesOf: (result: T) => number,
    instead?: (error: ArchivedError) => Promise<T>,
  ): nfs.Awaitable<T> {
    const counted = (result: T) => {
      this.#onIo(as, kind, bytesOf(result), performance.now() - began);
      return result;
    };
    const result = this.#withContents(work, instead);
    return result instanceof Promise ? result.then(counted) : counted(result);
  }

  /** Once more when the contents are back, if they were archived, or something else instead. */
  #withContents<T>(
    work: (filesystem: nfs.Filesystem) => nfs.Awaitable<T>,
    instead?: (error: ArchivedError) => Promise<T>,
  ): nfs.Awaitable<T> {
    const again = async (error: unknown): Promise<T> => {
      if (!(error instanceof ArchivedError)) throw error;
      if (instead) return instead(error);
      if (this.#onArchived === undefined) throw new FileError('EIO', 'the contents were archived');
      await this.#onArchived(error);
      return this.#use(work);
    };
    try {
      const result = this.#use(work);
      return result instanceof Promise ? result.catch(again) : result;
    } catch (error) {
      return again(error);
    }
  }

  #use<T>(work: (filesystem: nfs.Filesystem) => nfs.Awaitable<T>): nfs.Awaitable<T> {
    if (this.#current === undefined) return this.#useLater(work);
    const result = work(this.#current);
    if (!(result instanceof Promise)) return result;
    this.#running += 1;
    const left = () => {
      this.#running -= 1;
      if (this.#running > 0) return;
      this.#idle?.resolve();
      this.#idle = undefined;
    };
    result.then(left, left);
    return result;
  }

  async #useLater<T>(work: (filesystem: nfs.Filesystem) => nfs.Awaitable<T>): Promise<T> {
    const late = new AbortController();
    const time = sleep(WAIT_MS_MAX, undefined, { signal: late.signal, ref: false }).catch(() => undefined);
    await Promise.race([this.#resumed.promise, time]);
    late.abort();
    if (this.#current === undefined) throw new FileError('EAGAIN', 'the share cannot be used now');
    return this.#use(work);
  }

  async #holdAgain(filesystem: nfs.Filesystem, { as, file, access }: Held): Promise<void> {
    try {
      await filesystem.hold(as, file, access);
    } catch (error) {
      if (fileErrorCode(error) !== 'ESTALE') throw error;
      this.#held.delete(file.inode);
    }
  }
}
