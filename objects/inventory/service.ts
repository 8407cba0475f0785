import { formatUtc, type Clock, type HostedConfiguration, type Store } from '@granary/kernel';
import { listTimes, recordChanged, recordSeen, type InventoryKind } from './repository.ts';

interface InventoryOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly configuration: () => HostedConfiguration;
}

export interface ShownTimes {
  readonly created_at: string;
  readonly modified_at: string;
}

/** Since when drives, controllers and policies have been there, and when they last changed. */
export class InventoryTimes {
  readonly #options: InventoryOptions;

  constructor(options: InventoryOptions) {
    this.#options = options;
  }

  /** After a start or a new configuration. */
  async recordSeen(names: Readonly<Record<InventoryKind, readonly string[]>>): Promise<void> {
    const { store, clock } = this.#options;
    await store.write((tx) => {
      for (const [kind, all] of Object.entries(names) as [InventoryKind, readonly string[]][])
        for (const name of all) recordSeen(tx, kind, name, clock.now());
    });
  }

  async changed(kind: InventoryKind, name: string): Promise<void> {
    const { store, clock } = this.#options;
    await store.write((tx) => recordChanged(tx, kind, name, clock.now()));
  }

  of(kind: InventoryKind): (name: string) => ShownTimes {
    const { store, clock } = this.#options;
    const times = store.read((db) => listTimes(db, kind));
    return (name) => {
      const { created_at, modified_at } = times.get(name) ?? { created_at: clock.now(), modified_at: clock.now() };
      return { created_at: formatUtc(created_at), modified_at: formatUtc(modified_at) };
    };
  }
}
