import { fail, readSetting, writeSetting, type Clock, type Store } from '@granary/kernel';

/** Who commands a cloud. */
interface Owner {
  readonly portal: string;
  /** The portal's data folder. */
  readonly home: string;
  readonly epoch: number;
}

export interface ClaimRequest {
  readonly portal: string;
  readonly home: string;
  readonly instance: string;
  readonly boot: string;
  readonly force?: boolean | undefined;
}

interface Holder {
  readonly instance: string;
  readonly boot: string;
  readonly heardAt: number;
}

interface OwnershipOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Why this cloud accepts no commands for now: it is a copy of another one. */
  readonly copyOf: string | undefined;
  /** An administrator has put the copy in charge. */
  readonly onAdopted: () => Promise<void>;
}

const SETTING = 'owner';
/** A portal that lives is heard from every few seconds. */
const ALIVE_MS = 15_000;

/**
 * A cloud takes commands from one portal process at a time. The portal's data folder is on record here; a copy of that
 * folder has another home and is refused until an administrator moves the cloud. Each new process of the portal gets the
 * next epoch, and commands carry it: those of a process that was replaced are refused. A machine that was cloned has the
 * same home; it is recognized by another boot of the machine while the first process still sends.
 */
export class Ownership {
  readonly #options: OwnershipOptions;
  #copyOf: string | undefined;
  #holder: Holder | undefined;

  constructor(options: OwnershipOptions) {
    this.#options = options;
    this.#copyOf = options.copyOf;
  }

  async claim(request: ClaimRequest): Promise<{ epoch: number }> {
    const { store } = this.#options;
    const { portal, home, instance } = request;
    const force = request.force === true;
    const owner = this.#owner();
    if (!force) this.#refuse(request, owner);
    if (this.#copyOf !== undefined) {
      await this.#options.onAdopted();
      this.#copyOf = undefined;
    }
    const isKnown = owner?.portal === portal && owner.home === home && this.#holder?.instance === instance;
    const epoch = isKnown ? owner.epoch : (owner?.epoch ?? 0) + 1;
    if (!isKnown) await store.write((tx) => writeSetting(tx, SETTING, JSON.stringify({ portal, home, epoch })));
    this.#holder = { instance, boot: request.boot, heardAt: this.#options.clock.now() };
    return { epoch };
  }

  /** Throws unless the command comes from the portal process in charge. A cloud that is not claimed accepts any. */
  require(claim: string | undefined): void {
    if (this.#copyOf !== undefined) throw fail('cloud_claimed', { reason: this.#copyOf });
    const owner = this.#owner();
    if (!owner || claim === claimText(owner)) return;
    throw fail('cloud_claimed', { reason: `it belongs to portal ${owner.portal} (epoch ${owner.epoch})` });
  }

  #refuse({ portal, home, instance, boot }: ClaimRequest, owner: Owner | undefined): void {
    if (this.#copyOf !== undefined) throw fail('cloud_claimed', { reason: this.#copyOf });
    if (!owner) return;
    if (owner.portal !== portal)
      throw fail('cloud_claimed', { reason: `it belongs to another portal, ${owner.portal}` });
    if (owner.home !== home) throw fail('cloud_claimed', { reason: 'it belongs to another copy of this portal' });
    const holder = this.#holder;
    if (!holder || holder.instance === instance || holder.boot === boot) return;
    if (this.#options.clock.now() - holder.heardAt < ALIVE_MS)
      throw fail('cloud_claimed', { reason: 'another process of the same portal is alive on another machine' });
  }

  #owner(): Owner | undefined {
    const text = this.#options.store.read((db) => readSetting(db, SETTING));
    return text === undefined ? undefined : (JSON.parse(text) as Owner);
  }
}

/** How commands carry a claim, in the header `x-granary-claim`. */
export function claimText({ portal, home, epoch }: Owner): string {
  return `${portal} ${home} ${epoch}`;
}
