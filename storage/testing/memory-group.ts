import { setImmediate } from 'node:timers/promises';
import type { BlockGroup } from '../raid/group.ts';
import type { Done } from '../units.ts';

/** A group in memory: some operations complete synchronously, others a turn later. */
export class MemoryGroup implements BlockGroup {
  readonly id: string;
  readonly capacityBytes: number;
  readonly #bytes: Buffer;
  #operations = 0;

  constructor(id: string, capacityBytes: number) {
    this.id = id;
    this.capacityBytes = capacityBytes;
    this.#bytes = Buffer.alloc(capacityBytes);
  }

  read(offset: number, into: Buffer): Done {
    const work = (): void => void this.#bytes.copy(into, 0, offset, offset + into.length);
    return this.#sometimesLater(work);
  }

  write(offset: number, from: Buffer): Done {
    return this.#sometimesLater(() => void from.copy(this.#bytes, offset));
  }

  discard(offset: number, length: number): Done {
    this.#bytes.fill(0, offset, offset + length);
    return undefined;
  }

  async trim(offset: number, length: number): Promise<void> {
    await this.discard(offset, length);
  }

  async flush(): Promise<void> {
    await setImmediate();
  }

  #sometimesLater(work: () => void): Done {
    this.#operations++;
    if (this.#operations % 3 === 0) return setImmediate().then(work);
    work();
    return undefined;
  }
}
