import { isNoSpace } from '../../errors.ts';
import { BLOCK_BYTES } from '../../units.ts';
import type { GroupCore } from '../core.ts';
import { BATCH_ROWS } from '../layout.ts';
import { examineRows } from './group-scrubber.ts';

/** Repairs the checksum pages of members from the other members in regions where they were rejected. */
export class ChecksumRepairer {
  readonly #core: GroupCore;
  #running: Promise<void> | undefined;
  #doneCount = 0;

  constructor(core: GroupCore) {
    this.#core = core;
  }

  start(): void {
    if (this.#running !== undefined || this.#core.rejected.size === 0) return;
    this.#doneCount = 0;
    this.#running = this.#run()
      // The group was lost or closed: the checksums are rejected again when it is opened.
      .catch((error: unknown) => {
        if (isNoSpace(error)) this.#core.retryLater('resync', error);
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  async finished(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  progress(): number | undefined {
    if (this.#running === undefined) return undefined;
    return this.#doneCount / (this.#doneCount + this.#core.rejected.size);
  }

  async #run(): Promise<void> {
    const { rejected } = this.#core;
    for (const region of rejected) {
      await this.#repair(region);
      rejected.delete(region);
      this.#doneCount += 1;
    }
    await this.#core.flushMembers();
  }

  async #repair(region: number): Promise<void> {
    const { first, end } = this.#core.rowsOf(region);
    for (let row = first; row < end; row += BATCH_ROWS) {
      const count = Math.min(BATCH_ROWS, end - row);
      await this.#core.throttle.pace(count * BLOCK_BYTES);
      await examineRows(this.#core, row, count, true);
    }
  }
}
