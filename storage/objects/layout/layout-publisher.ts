import type { OpenDrives } from '../drives/drives.ts';
import type { RepairQueue } from '../repair/repair-queue.ts';
import { isIn } from './drive-catalogue.ts';
import type { LayoutState } from './layout-state.ts';
import type { EncryptionState, Layout, LayoutDrive } from './layout.ts';
import type { LayoutListener, ManagedIndex } from './manager-options.ts';

const NO_ENCRYPTION: EncryptionState = { writeKey: 0, keys: [] };

interface PublisherOptions {
  readonly state: LayoutState;
  readonly index: Pick<ManagedIndex, 'useLayout'>;
  readonly drives: () => OpenDrives;
  readonly queue: RepairQueue;
}

/** Builds the layout from the state of drives and rings, and brings it to all threads. */
export class LayoutPublisher {
  readonly #options: PublisherOptions;
  readonly #listeners = new Set<LayoutListener>();
  #layout: Layout = { version: 0, drives: [], rings: [], defaultPolicy: null, encryption: NO_ENCRYPTION };
  #encryption = NO_ENCRYPTION;
  #defaultPolicy: number | null = null;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  get layout(): Layout {
    return this.#layout;
  }

  /** Called with every new layout and waited for: only then is the old one given up. Returns how to stop it. */
  onLayout(listener: LayoutListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Published with the next layout. */
  setEncryption(encryption: EncryptionState): void {
    this.#encryption = encryption;
    this.#options.state.isDirty = true;
  }

  /** Published with the next layout. */
  setDefaultPolicy(policy: number | null): void {
    this.#defaultPolicy = policy;
    this.#options.state.isDirty = true;
  }

  /** Publishes a new layout if anything changed; resolves when every thread has it. */
  async publish(): Promise<void> {
    const { state, index, queue } = this.#options;
    if (!state.isDirty) return;
    state.isDirty = false;
    queue.hold();
    try {
      const drives = this.#options.drives();
      const layout = this.#build(() => ({}));
      index.useLayout(layout, isIn);
      await drives.update(layout);
      this.#layout = this.#build((drive) => {
        const usedBytes = drives.get(drive)?.usedCounter;
        return usedBytes ? { usedBytes } : {};
      });
      await Promise.all([...this.#listeners].map(async (listener) => listener(this.#layout)));
      queue.release();
    } catch (error) {
      state.isDirty = true;
      throw error;
    }
  }

  #build(more: (drive: number) => Pick<LayoutDrive, 'usedBytes'>): Layout {
    const { state } = this.#options;
    return {
      version: this.#layout.version + 1,
      drives: state.drives.map(({ number, uuid, folder, node, zone, capacity, policy, stage }) => ({
        number,
        uuid,
        folder,
        node,
        zone,
        capacity,
        policy,
        state: stateOf(state.isLive(number), stage),
        ...more(number),
      })),
      rings: state.ringsForThreads(),
      defaultPolicy: this.#defaultPolicy,
      encryption: this.#encryption,
    };
  }
}

function stateOf(isLive: boolean, stage: string): LayoutDrive['state'] {
  if (!isLive) return 'absent';
  return stage === 'leaving' || stage === 'left' ? 'leaving' : 'normal';
}
