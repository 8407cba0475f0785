import { type BlockDevice, type Done, StorageError } from '@granary/storage';

/**
 * The device of one mount. A filesystem that could not be unmounted cleanly, or whose volume becomes another one, must
 * not write any more when the next mount begins: what it still does after the fence is up fails.
 */
export class FencedDevice implements BlockDevice {
  readonly readOnly: boolean;
  readonly #device: BlockDevice;
  #underWay = 0;
  #isUp = false;
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(device: BlockDevice) {
    this.#device = device;
    this.readOnly = device.readOnly;
  }

  get sizeBytes(): number {
    return this.#device.sizeBytes;
  }

  read(offset: number, into: Buffer): Done {
    return this.#pass(() => this.#device.read(offset, into));
  }

  write(offset: number, from: Buffer): Done {
    return this.#pass(() => this.#device.write(offset, from));
  }

  async flush(): Promise<void> {
    await this.#pass(() => this.#device.flush());
  }

  discard(offset: number, length: number): Done {
    return this.#pass(() => this.#device.discard(offset, length));
  }

  mapped(offset: number, length: number, runsMax?: number): ReturnType<BlockDevice['mapped']> {
    return this.#device.mapped(offset, length, runsMax);
  }

  /** Resolves when nothing is under way any more. */
  async raise(): Promise<void> {
    this.#isUp = true;
    if (this.#underWay === 0) return;
    this.#drained ??= Promise.withResolvers();
    await this.#drained.promise;
  }

  #pass(work: () => Done): Done {
    if (this.#isUp) throw new StorageError('closed', 'The filesystem is not mounted any more.');
    const done = work();
    if (done === undefined) return undefined;
    this.#underWay += 1;
    const left = () => {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#drained?.resolve();
    };
    done.then(left, left);
    return done;
  }
}
