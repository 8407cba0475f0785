import { fileErrorCode } from '@granary/protocols/nfs';
import type * as nfs from '@granary/protocols/nfs';
import type { AuditOperation, AuditRecord } from '../../../audit.ts';
import { ServedFilesystem, type ServedFilesystemOptions } from '../served-filesystem.ts';

/** Repeated reads or writes of one file by one user from one client are recorded once in this interval. */
const REPEATED_AFTER_MS = 60_000;
const REMEMBERED_MAX = 4096;
const SLASH = Buffer.from('/');

interface Audit {
  /** Asked each time. */
  readonly isOn: () => boolean;
  readonly pathOf: (inode: number) => nfs.Awaitable<Buffer>;
  readonly record: (record: AuditRecord | Promise<AuditRecord>) => void;
}

/** A directory and a name in it, or a file. */
type Subject = readonly [nfs.FileId, Buffer?];

const CREATED: Record<nfs.NewFile['type'], AuditOperation> = {
  file: 'create',
  directory: 'mkdir',
  symlink: 'symlink',
  block: 'mknod',
  character: 'mknod',
  fifo: 'mknod',
  socket: 'mknod',
};

/** A share whose use is on record, while that is wanted: who did what to which path, from where, with what result. */
export class AuditedFilesystem extends ServedFilesystem {
  readonly #audit: Audit;
  readonly #recordedAt = new Map<string, number>();

  constructor(options: ServedFilesystemOptions, audit: Audit) {
    super(options);
    this.#audit = audit;
  }

  override setAttributes(as: nfs.Credentials, file: nfs.FileId, changes: nfs.AttributeChanges) {
    return this.#audited(as, 'setattr', () => super.setAttributes(as, file, changes), [file]);
  }

  override setAcl(as: nfs.Credentials, file: nfs.FileId, acl: Partial<nfs.Acl>) {
    return this.#audited(as, 'setacl', () => super.setAcl(as, file, acl), [file]);
  }

  override create(...args: Parameters<nfs.Filesystem['create']>) {
    const [as, directory, name, { type }] = args;
    return this.#audited(as, CREATED[type], () => super.create(...args), [directory, name]);
  }

  override link(...args: Parameters<nfs.Filesystem['link']>) {
    const [as, file, directory, name] = args;
    return this.#audited(as, 'link', () => super.link(...args), [file], [directory, name]);
  }

  override remove(...args: Parameters<nfs.Filesystem['remove']>) {
    const [as, directory, name, what] = args;
    return this.#audited(as, what === 'directory' ? 'rmdir' : 'remove', () => super.remove(...args), [directory, name]);
  }

  override rename(...args: Parameters<nfs.Filesystem['rename']>) {
    const [as, from, oldName, to, newName] = args;
    return this.#audited(as, 'rename', () => super.rename(...args), [from, oldName], [to, newName]);
  }

  override read(...args: Parameters<nfs.Filesystem['read']>) {
    return this.#audited(args[0], 'read', () => super.read(...args), [args[1]]);
  }

  override write(...args: Parameters<nfs.Filesystem['write']>) {
    return this.#audited(args[0], 'write', () => super.write(...args), [args[1]]);
  }

  override async hold(as: nfs.Credentials, file: nfs.FileId, access: number): Promise<void> {
    await this.#audited(as, 'open', () => super.hold(as, file, access), [file]);
  }

  refused(as: nfs.Credentials, file: nfs.FileId, wanted: nfs.RefusedUse, code: nfs.FileErrorCode): void {
    if (this.#audit.isOn()) this.#record(as, wanted === 'any' ? 'open' : wanted, code, [file]);
  }

  #audited<T>(
    as: nfs.Credentials,
    operation: AuditOperation,
    work: () => nfs.Awaitable<T>,
    subject: Subject,
    other?: Subject,
  ): nfs.Awaitable<T> {
    if (!this.#audit.isOn()) return work();
    // Names are on loan until the call returns.
    const [one, two] = [copyOf(subject), other && copyOf(other)];
    const failed = (error: unknown): never => {
      this.#record(as, operation, fileErrorCode(error) ?? 'EIO', one, two);
      throw error;
    };
    const succeeded = (result: T) => {
      this.#record(as, operation, 'ok', one, two);
      return result;
    };
    try {
      const result = work();
      return result instanceof Promise ? result.then(succeeded, failed) : succeeded(result);
    } catch (error) {
      return failed(error);
    }
  }

  #record(as: nfs.Credentials, operation: AuditOperation, result: string, subject: Subject, other?: Subject): void {
    // The client asks again by itself.
    if (result === 'EAGAIN' || this.#isRepeated(as, operation, result, subject[0])) return;
    const { uid, gid, client = '' } = as;
    const known = { time: Date.now(), uid, gid, client, operation };
    const path = this.#pathOf(subject);
    const toPath = other && this.#pathOf(other);
    if (typeof path === 'string' && !(toPath instanceof Promise)) {
      this.#audit.record({ ...known, path, ...(toPath !== undefined && { toPath }), result });
      return;
    }
    const found = Promise.all([path, toPath]).then(([one, two]) => ({
      ...{ ...known, path: one },
      ...(two !== undefined && { toPath: two }),
      result,
    }));
    this.#audit.record(found);
  }

  #isRepeated({ uid, client }: nfs.Credentials, operation: string, result: string, { inode }: nfs.FileId): boolean {
    if (operation !== 'read' && operation !== 'write') return false;
    const key = `${operation} ${inode} ${uid} ${client} ${result}`;
    const now = performance.now();
    if (now - (this.#recordedAt.get(key) ?? -Infinity) < REPEATED_AFTER_MS) return true;
    if (this.#recordedAt.size >= REMEMBERED_MAX) this.#recordedAt.clear();
    this.#recordedAt.set(key, now);
    return false;
  }

  /** A file without a name is identified by its number. */
  #pathOf([{ inode }, name]: Subject): nfs.Awaitable<string> {
    const withName = (path: Buffer) => {
      if (name === undefined) return path.toString();
      return Buffer.concat(path.length === 1 ? [path, name] : [path, SLASH, name]).toString();
    };
    const unnamed = () => `#${inode}${name === undefined ? '' : `/${name.toString()}`}`;
    try {
      const path = this.#audit.pathOf(inode);
      return path instanceof Promise ? path.then(withName, unnamed) : withName(path);
    } catch {
      return unnamed();
    }
  }
}

function copyOf([file, name]: Subject): Subject {
  return name === undefined ? [file] : [file, Buffer.from(name)];
}
