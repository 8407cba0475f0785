import { BLOCK_BYTES } from '../../units.ts';
import { toFsError } from '../errors.ts';
import { type Credentials, MAY_READ, requireContents } from '../files/access.ts';
import type { Context } from '../files/context.ts';
import { KIND } from '../store/layout.ts';
import type { Awaitable } from '../store/store.ts';
import { readSegments } from './block-io.ts';
import { type ContentOptions, loadFile } from './content-changes.ts';
import { segmentsOf } from './extents.ts';

export interface ReadResult {
  readonly bytes: number;
  readonly isEnd: boolean;
}

/** Reads the bytes of files. Answers without a promise if the device does. */
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
    const { store } = this.#context;
    const transfer = store.freed.beginTransfer();
    try {
      const result = store.read(() => this.#startRead(credentials, inode, offset, into, options));
      if (result instanceof Promise) return this.#finishRead(result, transfer);
      if (result.done !== undefined) return this.#finishRead(result, transfer);
      store.freed.endTransfer(transfer);
      return result;
    } catch (error) {
      store.freed.endTransfer(transfer);
      throw toFsError(error);
    }
  }

  #startRead(
    credentials: Credentials,
    number: number,
    offset: number,
    into: Buffer,
    options: ContentOptions,
  ): ReadResult & { done?: Promise<void> } {
    const { store } = this.#context;
    const inode = loadFile(store.tree, number);
    if (options.isOpen !== true) requireContents(store.tree, credentials, inode, MAY_READ);
    const bytes = Math.max(Math.min(into.length, inode.size - offset), 0);
    const result = { bytes, isEnd: offset + bytes >= inode.size };
    if (bytes === 0) return result;
    if (inode.isInline) {
      store.tree.get(number, KIND.data, 0)?.copy(into, 0, offset, offset + bytes);
      return result;
    }
    const end = offset + bytes;
    const segments = segmentsOf(store.tree, number, Math.floor(offset / BLOCK_BYTES), Math.ceil(end / BLOCK_BYTES));
    const done = readSegments(store.device, segments, offset, into.subarray(0, bytes));
    return done === undefined ? result : { ...result, done };
  }

  async #finishRead(started: Awaitable<ReadResult & { done?: Promise<void> }>, transfer: number): Promise<ReadResult> {
    try {
      const { bytes, isEnd, done } = await started;
      await done;
      return { bytes, isEnd };
    } catch (error) {
      throw toFsError(error);
    } finally {
      this.#context.store.freed.endTransfer(transfer);
    }
  }
}
