import type { Done } from '../../units.ts';
import type { Drive, DriveStatistics } from '../drive.ts';

/** A process that uses drives. Once it is dead, its requests have no effect and no answer. */
export interface Holder {
  isDead: boolean;
}

const NEVER = new Promise<never>(() => undefined);

/** A drive as one process sees it. */
export class HeldDrive implements Drive {
  readonly #inner: Drive;
  readonly #holder: Holder;

  constructor(inner: Drive, holder: Holder) {
    this.#inner = inner;
    this.#holder = holder;
  }

  get id(): string {
    return this.#inner.id;
  }

  get sizeBytes(): number {
    return this.#inner.sizeBytes;
  }

  read(offset: number, into: Buffer): Done {
    return this.#holder.isDead ? NEVER : this.#inner.read(offset, into);
  }

  write(offset: number, from: Buffer): Done {
    return this.#holder.isDead ? NEVER : this.#inner.write(offset, from);
  }

  flush(): Promise<void> {
    return this.#holder.isDead ? NEVER : this.#inner.flush();
  }

  writeDurably(offset: number, from: Buffer): Promise<void> {
    return this.#holder.isDead ? NEVER : this.#inner.writeDurably(offset, from);
  }

  discard(offset: number, length: number): Promise<void> {
    return this.#holder.isDead ? NEVER : this.#inner.discard(offset, length);
  }

  statistics(): DriveStatistics {
    return this.#inner.statistics();
  }

  close(): Promise<void> {
    return this.#holder.isDead ? NEVER : this.#inner.close();
  }
}
