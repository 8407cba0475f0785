import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from '../../errors.ts';
import { SEGMENTS_FOLDER } from '../drives/identity.ts';
import { readStamp, writeStamp } from './index-stamp.ts';
import { counter, type DriveRow, nextSegmentNumber, raiseSegmentNumber, setCounter } from './drive-catalogue.ts';
import type { LayoutState } from './layout-state.ts';

const STAMP_MS = 60_000;

/** Compares the index with the stamps on its drives, and writes new ones. See `index-stamp.ts`. */
export class IndexStamps {
  readonly #state: LayoutState;
  /** Goes on with an index that is not the drives' own. */
  readonly #acceptsAny: boolean;
  /** Drives whose stamp was compared. */
  readonly #compared = new Set<number>();
  #nextAt = 0;

  constructor(state: LayoutState, acceptsAny: boolean) {
    this.#state = state;
    this.#acceptsAny = acceptsAny;
  }

  /** What is wrong, by drive, of those that are there and were not compared before. */
  async compare(): Promise<ReadonlyMap<number, string>> {
    const fresh = this.#state.drives.filter(({ number }) => this.#state.isLive(number) && !this.#compared.has(number));
    const problems = new Map<number, string>();
    for (const row of fresh) {
      const problem = await this.#problemOf(row);
      if (problem !== undefined && !this.#acceptsAny) problems.set(row.number, problem);
      else this.#compared.add(row.number);
    }
    return problems;
  }

  /** At the start. Throws when the index is not the one that the drives were written under. */
  async demand(): Promise<void> {
    const problem = (await this.compare()).values().next().value ?? (await this.#unknownSegments());
    if (problem === undefined) return;
    throw new StorageError(
      'conflict',
      `The index is not the newest one of these drives: ${problem}. Put the newest index.db back. To go on with this one, without whatever was changed since, make a file index.db.accept beside it.`,
    );
  }

  /**
   * For drives that have no stamps yet: numbers of segments are set aside in the index before they are used. One drive may
   * have a stray segment from before it was emptied; most of them only if the index is too old.
   */
  async #unknownSegments(): Promise<string | undefined> {
    if (counter(this.#state.reader, 'stamp') > 0 && !this.#acceptsAny) return undefined;
    const live = this.#state.drives.filter(({ number }) => this.#state.isLive(number));
    let used = 0;
    const ahead: { readonly number: number; readonly last: number }[] = [];
    for (const { number, folder } of live) {
      const last = await lastSegment(folder);
      if (last > 0) used += 1;
      if (last >= nextSegmentNumber(this.#state.reader, number)) ahead.push({ number, last });
    }
    if (this.#acceptsAny) {
      await this.#state.change((db) => {
        for (const { number, last } of ahead) raiseSegmentNumber(db, number, last + 1);
      });
      return undefined;
    }
    const [first] = ahead;
    if (first === undefined || ahead.length * 2 <= used) return undefined;
    return `drive ${first.number} has a segment ${first.last} that it does not know`;
  }

  async writeInTime(): Promise<void> {
    if (this.#state.now() >= this.#nextAt) await this.write();
  }

  async write(): Promise<void> {
    if (this.#compared.size === 0) return;
    this.#nextAt = this.#state.now() + STAMP_MS;
    const stamp = await this.#state.change((db) => {
      const count = counter(db, 'stamp') + 1;
      setCounter(db, 'stamp', count);
      return { index: counter(db, 'index'), count };
    });
    const drives = this.#state.drives.filter(({ number }) => this.#state.isLive(number) && this.#compared.has(number));
    // A drive that does not take it is noticed by those who use it.
    await Promise.allSettled(drives.map(({ folder }) => writeStamp(folder, stamp)));
  }

  async #problemOf({ number, folder }: DriveRow): Promise<string | undefined> {
    const { reader } = this.#state;
    const stamp = await readStamp(folder);
    if (stamp === undefined) return undefined;
    if (stamp.index !== counter(reader, 'index')) return `drive ${number} was written under another index`;
    const count = counter(reader, 'stamp');
    if (stamp.count > count) return `drive ${number} has stamp ${stamp.count}, the index only ${count}`;
    return undefined;
  }
}

async function lastSegment(folder: string): Promise<number> {
  const names = await readdir(join(folder, SEGMENTS_FOLDER)).catch(() => []);
  return names.reduce((last, name) => Math.max(last, Number.parseInt(name, 10) || 0), 0);
}
