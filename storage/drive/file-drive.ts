import * as fs from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { isDiskFull } from '@granary/kernel/sqlite';
import { StorageError } from '../errors.ts';
import { BLOCK_BYTES } from '../units.ts';
import type { Done } from '../units.ts';
import type { Drive, DriveStatistics, LargeRequests } from './drive.ts';
import { DriveMeter } from './drive-meter.ts';
import { type FileIdentity, type FileInspection, identityOf, inspectFile } from './file-identity.ts';
import { readWhole, readWholeAsync, writeWhole, writeWholeAsync } from './file-pieces.ts';
import { InlineGate } from './inline-gate.ts';
import { punchHole } from './punch-hole.ts';
import type { SharedFile, SharedOperation } from './shared-file.ts';
import { SharedFlush } from './shared-flush.ts';
import { thenSum } from './then-sum.ts';
import type { HelperJob } from './helper-job.ts';
import { HelperThread } from './helper-thread.ts';

/**
 * A synchronous read leaves its bytes in this processor's cache, where they are verified next; a thread-pool read does
 * not.
 */
const INLINE_BYTES_MAX = 1024 * 1024;
/** The limit for blocking this thread. */
const INLINE_SLOW_MS = 0.2;
/** The limit for a piece of a shared request; either thread may have to wait for its processor. */
const SHARED_SLOW_MS = 1;
const HELPER_SLOW_MS = 4;
const SECTOR_BYTES = 512;

export interface FileDriveOptions {
  readonly id: string;
  readonly path: string;
  /** Needed to create the file. An existing file may be larger, and is extended when it is smaller. */
  readonly sizeBytes?: number;
  /** The file is not created: without one there is no drive. */
  readonly mustExist?: boolean;
}

/** A drive in a sparse file, or a raw device, through the page cache. */
export class FileDrive implements Drive, SharedFile {
  readonly id: string;
  readonly path: string;
  readonly sizeBytes: number;
  readonly fd: number;
  readonly #file: FileHandle;
  /** The same file opened with O_DSYNC: a flush would wait for all other writes as well. */
  readonly #durable: FileHandle;
  readonly #identity: FileIdentity;
  readonly #meter = new DriveMeter();
  readonly #gate = new InlineGate(INLINE_SLOW_MS);
  readonly #sharedGate = new InlineGate(SHARED_SLOW_MS);
  readonly #helperGate = new InlineGate(HELPER_SLOW_MS);
  readonly #flusher = new SharedFlush(() => this.#flushNow());
  #inFlight = 0;
  /** Until punching a hole has failed once. */
  #canPunch = true;
  /**
   * Incremented when a write begins and when it ends. Starts at 1: writes before this drive was opened may not be
   * durable.
   */
  #changes = 1;
  /** The value of `#changes` that the last flush covers. */
  #flushed = 0;
  #refusal: StorageError | undefined;
  #onIdle: (() => void) | undefined;

  private constructor(
    options: FileDriveOptions,
    file: FileHandle,
    durable: FileHandle,
    sizeBytes: number,
    identity: FileIdentity,
  ) {
    this.id = options.id;
    this.path = options.path;
    this.sizeBytes = sizeBytes;
    this.#file = file;
    this.fd = file.fd;
    this.#durable = durable;
    this.#identity = identity;
  }

  static async open(options: FileDriveOptions): Promise<FileDrive> {
    const { sizeBytes } = options;
    if (sizeBytes !== undefined && !(Number.isSafeInteger(sizeBytes) && sizeBytes > 0)) {
      throw new StorageError('invalid', `A drive of ${sizeBytes} bytes cannot be; give a whole number above zero.`);
    }
    const isMade = sizeBytes !== undefined && options.mustExist !== true;
    const flags = fs.constants.O_RDWR | (isMade ? fs.constants.O_CREAT : 0);
    const file = await openFile(options, flags);
    let durable: FileHandle | undefined;
    try {
      durable = await openFile(options, fs.constants.O_RDWR | fs.constants.O_DSYNC);
      const found = await file.stat({ bigint: true });
      const identity = identityOf(found);
      if (identity.isDevice) {
        return new FileDrive(options, file, durable, await deviceSizeBytes(options, Number(found.rdev)), identity);
      }
      const foundBytes = Number(found.size);
      if (sizeBytes !== undefined && foundBytes < sizeBytes) await file.truncate(sizeBytes);
      const size = Math.max(foundBytes, sizeBytes ?? 0);
      return new FileDrive(options, file, durable, size - (size % BLOCK_BYTES), identity);
    } catch (error) {
      await file.close();
      await durable?.close();
      throw error;
    }
  }

  /** Compares the file at the path with the open one. Works after `close` as well. */
  inspect(): Promise<FileInspection> {
    return inspectFile(this.path, this.#identity, this.sizeBytes);
  }

  read(offset: number, into: Buffer): Done {
    this.#check(offset, into.length);
    const startMs = performance.now();
    if (!this.#isFast(into.length, startMs)) {
      return this.#reading(readWholeAsync(this.fd, into, offset), into.length, startMs);
    }
    try {
      readWhole(this.fd, into, offset);
    } catch (error) {
      throw this.#failed('reads', error);
    }
    const endMs = performance.now();
    this.#gate.took(endMs - startMs, endMs, into.length);
    this.#meter.reads.add(into.length, endMs - startMs);
    return undefined;
  }

  get large(): LargeRequests {
    return this;
  }

  readSummed(offset: number, into: Buffer, sums: Uint32Array): Done {
    const helper = HelperThread.for(into);
    const nowMs = performance.now();
    if (!helper || !this.#helperGate.allows(nowMs)) return thenSum(this.read(offset, into), into, sums);
    this.#check(offset, into.length);
    this.begin();
    const job = helper.read(this.fd, offset, into, sums, this.isFast(nowMs));
    if (!helper.isDone(job)) return helper.ended(job).then(() => this.end('reads', job));
    this.end('reads', job);
    return undefined;
  }

  write(offset: number, from: Buffer): Done {
    this.#check(offset, from.length);
    this.#changes += 1;
    const startMs = performance.now();
    if (!this.#isFast(from.length, startMs)) return this.#writeAsync(this.fd, offset, from, startMs);
    try {
      writeWhole(this.fd, from, offset);
    } catch (error) {
      throw this.#failed('writes', error);
    }
    const endMs = performance.now();
    this.#gate.took(endMs - startMs, endMs, from.length);
    this.#meter.writes.add(from.length, endMs - startMs);
    return undefined;
  }

  fileToWrite(offset: number, from: Buffer): SharedFile | undefined {
    this.#check(offset, from.length);
    return this.#helperGate.allows(performance.now()) ? this : undefined;
  }

  async writeDurably(offset: number, from: Buffer): Promise<void> {
    this.#check(offset, from.length);
    this.#changes += 1;
    await this.#writeAsync(this.#durable.fd, offset, from, performance.now());
  }

  flush(): Promise<void> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal);
    // Metadata is committed far more often than data is written.
    if (this.#flushed === this.#changes) return Promise.resolve();
    return this.#flusher.run();
  }

  /**
   * The end of a file is truncated and extended again; after a kill in between, opening the drive with its size extends
   * it. Elsewhere a hole is punched where the file system supports it; otherwise the discard is only counted.
   */
  async discard(offset: number, length: number): Promise<void> {
    this.#check(offset, length);
    const startMs = performance.now();
    try {
      if (!this.#identity.isDevice && length > 0) await this.#deallocate(offset, length);
    } catch (error) {
      throw this.#failed('discards', error);
    }
    this.#meter.discards.add(length, performance.now() - startMs);
  }

  statistics(): DriveStatistics {
    return this.#meter.snapshot();
  }

  async close(): Promise<void> {
    if (this.#refusal?.code === 'closed') return;
    this.#refusal = new StorageError('closed', `Drive ${this.id} was closed; open it again.`);
    if (this.#inFlight > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    await this.#file.close();
    await this.#durable.close();
  }

  isFast(nowMs: number): boolean {
    return this.#sharedGate.allows(nowMs);
  }

  begin(operation: SharedOperation = 'reads'): void {
    this.#inFlight += 1;
    if (operation === 'writes') this.#changes += 1;
  }

  end(operation: SharedOperation, { startMs, bytes, ownBytes, copies }: HelperJob, copy = 0): void {
    const { ownMs = 0, helpedMs = 0, error } = copies[copy] ?? {};
    const endMs = performance.now();
    // A thread without a share has measured nothing.
    if (ownBytes > 0) this.#sharedGate.took(ownMs, endMs, ownBytes);
    if (ownBytes < bytes.length) this.#helperGate.took(helpedMs, endMs, bytes.length - ownBytes);
    if (operation === 'writes') this.#changes += 1;
    this.#endRequest();
    if (error !== undefined) throw this.#failed(operation, error);
    this.#meter[operation].add(bytes.length, endMs - startMs);
  }

  async #deallocate(offset: number, length: number): Promise<void> {
    this.#changes += 1;
    if (offset + length === this.sizeBytes && this.#inFlight === 0) {
      fs.ftruncateSync(this.fd, offset);
      fs.ftruncateSync(this.fd, this.sizeBytes);
      return;
    }
    if (!this.#canPunch) return;
    this.#inFlight += 1;
    try {
      this.#canPunch = await punchHole(this.fd, offset, length);
    } finally {
      this.#changes += 1;
      this.#endRequest();
    }
  }

  #check(offset: number, length: number): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    if (offset >= 0 && length >= 0 && offset + length <= this.sizeBytes) return;
    throw new StorageError(
      'invalid',
      `Bytes ${offset} to ${offset + length} are not on drive ${this.id}, which has ${this.sizeBytes}.`,
    );
  }

  /** Whether the request is expected to be served from memory, within the limit. */
  #isFast(bytes: number, nowMs: number): boolean {
    return bytes <= INLINE_BYTES_MAX && this.#gate.allows(nowMs);
  }

  async #reading(reading: Promise<void>, bytes: number, startMs: number): Promise<void> {
    this.#inFlight += 1;
    try {
      await reading;
      this.#meter.reads.add(bytes, performance.now() - startMs);
    } catch (error) {
      throw this.#failed('reads', error);
    } finally {
      this.#endRequest();
    }
  }

  #writeAsync(fd: number, offset: number, from: Buffer, startMs: number): Promise<void> {
    return this.#writing(writeWholeAsync(fd, from, offset), from.length, startMs);
  }

  async #writing(writing: Promise<void>, bytes: number, startMs: number): Promise<void> {
    this.#inFlight += 1;
    try {
      await writing;
      this.#meter.writes.add(bytes, performance.now() - startMs);
    } catch (error) {
      throw this.#failed('writes', error);
    } finally {
      this.#changes += 1;
      this.#endRequest();
    }
  }

  async #flushNow(): Promise<void> {
    if (this.#refusal !== undefined) throw this.#refusal;
    const startMs = performance.now();
    const changes = this.#changes;
    this.#inFlight += 1;
    try {
      await datasync(this.fd);
      this.#flushed = changes;
      this.#meter.flushes.add(0, performance.now() - startMs);
    } catch (error) {
      // The kernel drops dirty pages it could not write, so a later flush would report success for lost bytes.
      this.#refusal = this.#failed('flushes', error);
      throw this.#refusal;
    } finally {
      this.#endRequest();
    }
  }

  #endRequest(): void {
    this.#inFlight -= 1;
    if (this.#inFlight === 0) this.#onIdle?.();
  }

  #failed(operation: 'reads' | 'writes' | 'flushes' | 'discards', error: unknown): StorageError {
    this.#meter[operation].errors += 1;
    // A flush without space has lost bytes that were accepted before; a write without space has only refused its own.
    if (operation === 'writes' && isDiskFull(error)) {
      const what = `Drive ${this.id} has no room to grow; make room on the disk that holds ${this.path}.`;
      return new StorageError('no-space', what, { cause: error });
    }
    const message = `Drive ${this.id} (${this.path}) failed: ${reason(error)}. Replace it or bring it back.`;
    return new StorageError('drive-failed', message, { cause: error });
  }
}

async function openFile({ id, path }: FileDriveOptions, flags: number): Promise<FileHandle> {
  try {
    return await open(path, flags, 0o600);
  } catch (error) {
    if (isDiskFull(error)) {
      throw new StorageError('no-space', `Drive ${id} cannot be made; make room on the disk for ${path}.`, {
        cause: error,
      });
    }
    throw new StorageError('drive-failed', `Drive ${id} cannot be opened at ${path}: ${reason(error)}`, {
      cause: error,
    });
  }
}

function datasync(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fs.fdatasync(fd, (error) => (error ? reject(error) : resolve()));
  });
}

/** Linux publishes the size of a device, in sectors, under its device numbers. */
async function deviceSizeBytes(options: FileDriveOptions, rdev: number): Promise<number> {
  const major = (rdev >>> 8) & 0xfff;
  const minor = (rdev & 0xff) | ((rdev >>> 12) & 0xfff00);
  const text = await readFile(`/sys/dev/block/${major}:${minor}/size`, 'utf8').catch(() => '');
  const size = Number(text) * SECTOR_BYTES;
  if (size > 0) return size - (size % BLOCK_BYTES);
  throw new StorageError('invalid', `${options.path} is neither a file nor a block device; name one of these.`);
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
