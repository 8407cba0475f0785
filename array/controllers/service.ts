import { randomInt } from 'node:crypto';
import type { HostedConfiguration, Store, Vault } from '@granary/kernel';
import type { Heartbeat } from './heartbeat.ts';
import { findChap, insertChap, type ChapRow } from './repository.ts';

export interface Controller {
  readonly name: string;
  readonly index: number;
  readonly target: string;
  readonly chapUser: string;
  readonly chapSecret: string;
  readonly heartbeats: { readonly own: number; readonly cloud: number };
  readonly configuration: HostedConfiguration;
}

interface ControllersOptions {
  readonly store: Store;
  readonly vault: Vault;
  readonly heartbeat: Heartbeat;
  /** Asked each time: the cloud may change it while the array runs. */
  readonly configuration: () => HostedConfiguration;
}

const TARGET_PREFIX = 'iqn.2025-11.io.granary';
const SECRET_LENGTH = 16;
const SECRET_CHARACTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789';

/** An array has one controller: this process. */
export class Controllers {
  readonly #options: ControllersOptions;

  constructor(options: ControllersOptions) {
    this.#options = options;
  }

  /** At the first start: the name and secret servers sign in to the array with. */
  async createChap(): Promise<void> {
    const { store, vault, configuration } = this.#options;
    const fresh = { array_user: configuration().internalName, array_secret: vault.seal(newChapSecret()) };
    await store.write((tx) => insertChap(tx, fresh));
  }

  list(): Controller[] {
    const { store, vault, heartbeat } = this.#options;
    const configuration = this.#options.configuration();
    const chap = store.read(findChap) as ChapRow;
    return [
      {
        name: `${configuration.internalName}-vc-0`,
        index: 0,
        target: `${TARGET_PREFIX}:${configuration.internalName}`,
        chapUser: chap.array_user,
        chapSecret: vault.unseal(chap.array_secret),
        heartbeats: { own: heartbeat.own, cloud: heartbeat.cloud },
        configuration,
      },
    ];
  }

  networks(): HostedConfiguration['interfaces'] {
    return this.#options.configuration().interfaces;
  }
}

/** CHAP secrets have 12 to 16 characters; these are easy to read out. */
function newChapSecret(): string {
  return Array.from({ length: SECRET_LENGTH }, () => SECRET_CHARACTERS[randomInt(SECRET_CHARACTERS.length)]).join('');
}
