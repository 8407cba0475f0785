import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { ApiError, type CloudClient } from '@granary/client';
import { findHome, GranaryError, readSetting, recordHome, writeSetting, type Log, type Store } from '@granary/kernel';
import type { CloudId } from '../ids.ts';

/** A cloud that takes no commands from this portal, in the cloud's own words. */
export class ClaimRefused extends GranaryError {
  constructor(problem: string) {
    super('not_supported', problem);
  }
}

interface Identity {
  readonly portal: string;
  readonly home: string;
  readonly instance: string;
  readonly boot: string;
}

const PORTAL_UUID = 'portal_uuid';
const BOOT_ID = '/proc/sys/kernel/random/boot_id';
const FORBIDDEN = 403;
/** Clouds of earlier releases keep no claims and take commands from everyone who has their key. */
const WITHOUT_CLAIMS: readonly number[] = [404, 501];

/** Which clouds this process of the portal commands: its claims, by the id of the cloud. */
export class CloudClaims {
  readonly #store: Store;
  readonly #log: Log;
  readonly #claims = new Map<number, string>();
  readonly #refusals = new Map<number, string>();
  #identity: Promise<Identity> | undefined;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  isHeld(cloudId: CloudId): boolean {
    return this.#claims.has(cloudId);
  }

  /** Claims a cloud, or renews the claim. Rejects with `ClaimRefused` when it belongs to another portal. */
  async claim(cloudId: CloudId, link: CloudClient, force: boolean): Promise<void> {
    try {
      this.keep(cloudId, await this.request(link, force));
    } catch (error) {
      if (error instanceof ApiError || error instanceof ClaimRefused) this.#claims.delete(cloudId);
      throw error;
    }
  }

  /** Tries to; a later command to the cloud fails with the reason. */
  async claimQuietly(cloudId: CloudId, cloud: string, link: CloudClient): Promise<void> {
    try {
      await this.claim(cloudId, link, false);
    } catch (error) {
      if (!(error instanceof ClaimRefused)) return;
      const reason = error.message;
      if (!this.#refusals.has(cloudId)) this.#log.warn({ cloud, reason }, 'a cloud refuses this portal');
      this.#refusals.set(cloudId, reason);
    }
  }

  /** Claims a cloud that may not be on record yet; `keep` takes what this resolves with. */
  async request(link: CloudClient, force: boolean): Promise<string> {
    const { portal, home, instance, boot } = await (this.#identity ??= this.#loadIdentity());
    try {
      const { data } = await link.portal.claim({ portal, home, instance, boot, force });
      return `${portal} ${home} ${data.epoch}`;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === FORBIDDEN) throw new ClaimRefused(error.message);
      if (!WITHOUT_CLAIMS.includes(error.status)) throw error;
      return '';
    }
  }

  keep(cloudId: CloudId, claim: string): void {
    this.#claims.set(cloudId, claim);
    this.#refusals.delete(cloudId);
  }

  /** Requests to a cloud carry the claim; one that is refused is claimed anew before the next command. */
  fetchFor(cloudId: CloudId, fetchWith: typeof fetch): typeof fetch {
    return async (url, init) => {
      const claim = this.#claims.get(cloudId);
      const headers = { ...(init?.headers as Record<string, string>), ...(claim && { 'x-granary-claim': claim }) };
      const answer = await fetchWith(url, { ...init, headers });
      if (answer.status === FORBIDDEN) this.#claims.delete(cloudId);
      return answer;
    };
  }

  /** A copy of a portal's data folder has a home of its own from its first start on: clouds tell it by that. */
  async #loadIdentity(): Promise<Identity> {
    const store = this.#store;
    const { home, copyOf } = await findHome(store);
    if (copyOf) this.#log.warn({ original: copyOf.folder }, 'this portal is a copy; clouds of the original refuse it');
    const { id } = copyOf ? await recordHome(store) : home;
    const known = store.read((db) => readSetting(db, PORTAL_UUID));
    const portal = known ?? randomUUID();
    if (known === undefined) await store.write((tx) => writeSetting(tx, PORTAL_UUID, portal));
    return { portal, home: id, instance: randomUUID(), boot: bootId() };
  }
}

function bootId(): string {
  return existsSync(BOOT_ID) ? readFileSync(BOOT_ID, 'utf8').trim() : 'unknown';
}
