import { BLOCK_BYTES, type Done } from '../../units.ts';
import { toFsError } from '../errors.ts';
import { type Credentials, MAY_READ, requireContents } from '../files/access.ts';
import { isAccessDue, recordAccess } from '../files/access-time.ts';
import { refuseArchived } from '../files/archive-record.ts';
import type { Context } from '../files/context.ts';
import type { Inode } from '../files/inode.ts';
import { KIND } from '../store/layout.ts';
import type { Awaitable } from '../store/filesystem-store.ts';
import { readSegments } from './block-io.ts';
import { type ContentOptions, loadFile } from './content-changes.ts';
import { segmentsOf } from './extents.ts';

export interface ReadResult {
  readonly bytes: number;
  readonly isEnd: boolean;
}

interface StartedRead {
  readonly result: ReadResult;
  readonly done: Done;
  readonly isAccessDue: boolean;
}

/** Reads the bytes of files. Synchronous if the device is. */
export class ContentReader {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  read(
    credentials: Credentials,
    inode: number,
    offset: number,
    into: Buffer,
    options: ContentOptions = {},
  ): Awaitable<ReadResult> {
    const { freed } = this.#context.store;
    const transfer = freed.beginTransfer();
    try {
      const started = this.#context.store.read(() => this.#start(credentials, inode, offset, into, options));
      if (started instanceof Promise || started.done !== undefined) return this.#finish(inode, started, transfer);
      freed.endTransfer(transfer);
      if (started.isAccessDue) recordAccess(this.#context, inode);
      return started.result;
    } catch (error) {
      freed.endTransfer(transfer);
      throw toFsError(error);
    }
  }

  #start(credentials: Credentials, number: number, offset: number, into: Buffer, options: ContentOptions): StartedRead {
    const { store } = this.#context;
    const inode = loadFile(store.tree, number);
    if (options.isOpen !== true) requireContents(store.tree, credentials, inode, MAY_READ);
    const bytes = Math.max(Math.min(into.length, inode.size - offset), 0);
    if (bytes > 0 && inode.isArchived) refuseArchived(store.tree, inode);
    const result = { bytes, isEnd: offset + bytes >= inode.size };
    return {
      result,
      isAccessDue: isAccessDue(inode, this.#context.now()),
      done: bytes === 0 ? undefined : this.#transfer(inode, offset, into.subarray(0, bytes)),
    };
  }

  #transfer(inode: Inode, offset: number, into: Buffer): Done {
    const { tree, device } = this.#context.store;
    const end = offset + into.length;
    if (inode.isInline) {
      tree.get(inode.inode, KIND.data, 0)?.copy(into, 0, offset, end);
      return undefined;
    }
    const segments = segmentsOf(tree, inode.inode, Math.floor(offset / BLOCK_BYTES), Math.ceil(end / BLOCK_BYTES));
    return readSegments(device, segments, offset, into);
  }

  async #finish(inode: number, started: Awaitable<StartedRead>, transfer: number): Promise<ReadResult> {
    try {
      const { result, done, isAccessDue: isDue } = await started;
      await done;
      if (isDue) recordAccess(this.#context, inode);
      return result;
    } catch (error) {
      throw toFsError(error);
    } finally {
      this.#context.store.freed.endTransfer(transfer);
    }
  }
}
