import type { BlockDevice } from '../../block-device.ts';
import { BLOCK_BYTES, BLOCKS_PER_EXTENT } from '../../units.ts';
import type { Run } from './space-map-page.ts';
import { MISS } from './miss.ts';
import type { Space } from './space.ts';

interface Waiting {
  readonly runs: readonly Run[];
  /** Transfers that began before this number may still use the blocks. */
  readonly since: number;
}

/**
 * Handles freed blocks once the commit that freed them is durable. They are reused as soon as no transfer that began
 * before uses them. Extents of the pool that become empty are discarded, in pieces as large as possible.
 */
export class FreedBlocks {
  readonly #device: BlockDevice;
  readonly #space: Space;
  readonly #transfers = new Set<number>();
  readonly #discards = new Set<Promise<void>>();
  #waiting: Waiting[] = [];
  #next = 0;

  constructor(device: BlockDevice, space: Space) {
    this.#device = device;
    this.#space = space;
  }

  /** Begins a transfer of file data; the blocks it looked up are not reused until it ends. */
  beginTransfer(): number {
    this.#transfers.add(this.#next);
    return this.#next++;
  }

  endTransfer(transfer: number): void {
    this.#transfers.delete(transfer);
    if (this.#waiting.length > 0) this.#releaseSome();
  }

  add(runs: readonly Run[]): void {
    if (runs.length === 0) return;
    this.#waiting.push({ runs, since: this.#next });
    this.#releaseSome();
  }

  async whenIdle(): Promise<void> {
    while (this.#discards.size > 0) await Promise.all(this.#discards);
  }

  #releaseSome(): void {
    const [oldest = Infinity] = this.#transfers;
    while (this.#waiting[0] !== undefined && this.#waiting[0].since <= oldest) {
      const { runs } = this.#waiting.shift() as Waiting;
      for (const run of runs) this.#space.release(run);
      for (const run of emptied(runs)) this.#discard(run);
    }
  }

  /** Discards the entirely free extents around a run; they are reserved meanwhile. */
  #discard(run: Run): void {
    let piece: Run | undefined;
    const units: Run[] = [];
    for (let start = run.start; start < run.start + run.count; start += BLOCKS_PER_EXTENT) {
      const unit = { start, count: BLOCKS_PER_EXTENT };
      if (!this.#reserve(unit)) continue;
      units.push(unit);
      if (piece?.start !== undefined && piece.start + piece.count === start) {
        piece = { start: piece.start, count: piece.count + unit.count };
      } else {
        if (piece !== undefined) this.#start(piece, units.splice(0, units.length - 1));
        piece = unit;
      }
    }
    if (piece !== undefined) this.#start(piece, units);
  }

  #reserve(unit: Run): boolean {
    try {
      return unit.start + unit.count <= this.#space.totalBlocks && this.#space.reserveAll(unit);
    } catch (error) {
      // The page is not in memory: the extent is not discarded, until another block in it is freed.
      if (error === MISS) return false;
      throw error;
    }
  }

  #start(piece: Run, units: readonly Run[]): void {
    const discarding = this.#perform(piece).finally(() => {
      for (const unit of units) this.#space.release(unit);
      this.#discards.delete(discarding);
    });
    this.#discards.add(discarding);
  }

  async #perform(piece: Run): Promise<void> {
    try {
      await this.#device.discard(piece.start * BLOCK_BYTES, piece.count * BLOCK_BYTES);
    } catch {
      // Best effort: the space stays with the volume.
    }
  }
}

/** The extents that the runs touch, as runs of whole extents, without repeats. */
function emptied(runs: readonly Run[]): Run[] {
  const found: { start: number; count: number }[] = [];
  for (const run of runs.toSorted((one, other) => one.start - other.start)) {
    const start = Math.floor(run.start / BLOCKS_PER_EXTENT) * BLOCKS_PER_EXTENT;
    const end = Math.ceil((run.start + run.count) / BLOCKS_PER_EXTENT) * BLOCKS_PER_EXTENT;
    const last = found.at(-1);
    if (last !== undefined && start <= last.start + last.count) {
      last.count = Math.max(last.count, end - last.start);
    } else {
      found.push({ start, count: end - start });
    }
  }
  return found;
}
