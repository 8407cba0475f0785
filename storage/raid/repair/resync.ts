import { isNoSpace } from '../../errors.ts';
import { BLOCK_BYTES } from '../../units.ts';
import type { GroupCore } from '../core.ts';

/** After a crash: resyncs one dirty region after the other, also those that no operation accesses. */
export class Resyncer {
  readonly #core: GroupCore;
  #running: Promise<void> | undefined;
  #total = 0;

  constructor(core: GroupCore) {
    this.#core = core;
  }

  start(): void {
    if (this.#running !== undefined || this.#core.unsynced.size === 0) return;
    this.#total = this.#core.unsynced.size;
    this.#core.emit({ type: 'resync-started', regions: this.#total });
    this.#running = this.#run()
      // The group was lost or closed: the remaining regions are dirty when it is opened.
      .catch((error: unknown) => {
        if (isNoSpace(error)) this.#core.retryLater('resync', error);
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  async finished(): Promise<void> {
    await this.#running;
  }

  progress(): number | undefined {
    if (this.#running === undefined || this.#total === 0) return undefined;
    return 1 - this.#core.unsynced.size / this.#total;
  }

  async #run(): Promise<void> {
    const { unsynced, throttle, layout } = this.#core;
    for (let region = unsynced.next(0); region !== -1; region = unsynced.next(region + 1)) {
      await throttle.pace(layout.regionRows * BLOCK_BYTES);
      await this.#core.resyncs.run(region);
    }
    this.#core.emit({ type: 'resync-finished' });
  }
}
