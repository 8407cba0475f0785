import {
  postSigned,
  type Clock,
  type EventLog,
  type Log,
  type NewEvent,
  type Store,
  type Vault,
} from '@granary/kernel';
import { allowedReach } from '@granary/protocols/objects';
import type { Commit, Notification } from '@granary/storage/object-store';
import { findAccount } from '../accounts/repository.ts';
import type { ObjectCatalogue } from '../engine/engine.ts';
import { Lane, waitAfter } from '../lanes.ts';
import { counted } from '@granary/contract';
import { messageOf } from './message.ts';
import { notificationSecret } from './secret.ts';

interface NotificationOptions {
  readonly store: Store;
  readonly vault: Vault;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly log: Log;
  readonly commit: Commit;
  readonly engine: {
    readonly catalogue: Pick<ObjectCatalogue, 'notificationAddresses' | 'notificationsDue'>;
  };
  readonly configuration: () => { readonly internalName: string };
  readonly settings: () => { readonly region: string; readonly notificationHosts: readonly string[] };
}

const POLL_MS = 500;
const FIRST_WAIT_MS = 1_000;
const LANE_MAX = 4;
const TOTAL_MAX = 16;
/** What is not accepted for so long is given up. */
const TRIED_FOR_MS = 24 * 3_600_000;
/** Of more that wait for an address, the oldest are given up. */
const WAITING_MAX = 100_000;
const TRIM_EVERY_MS = 60_000;

/**
 * Posts what rules of buckets want to know. What is to be posted stands in the index since the change itself, and leaves
 * there when the receiver accepted it: killed in between, it is posted again, under the same `Granary-Delivery`. Up to
 * four at a time go to an address, so that receivers order the events of a key by their `sequencer`.
 */
export class NotificationService {
  readonly #options: NotificationOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #running = new Set<Promise<void>>();
  /** Addresses whose last attempt failed. */
  readonly #failing = new Set<string>();
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #trimmedAt = 0;
  #turn = 0;

  constructor(options: NotificationOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.#poll(), POLL_MS).unref();
  }

  /** What is not delivered is delivered after the next start. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort();
    await Promise.allSettled(this.#running);
  }

  #poll(): void {
    const { clock, engine, log } = this.#options;
    try {
      const addresses = engine.catalogue.notificationAddresses();
      for (const address of this.#lanes.keys()) if (!addresses.includes(address)) this.#forget(address);
      // Another one goes first each time: receivers that hang must not take all places for good.
      this.#turn = (this.#turn + 1) % Math.max(1, addresses.length);
      for (const address of [...addresses.slice(this.#turn), ...addresses.slice(0, this.#turn)]) this.#fill(address);
      if (clock.now() - this.#trimmedAt >= TRIM_EVERY_MS) this.#trim(addresses);
    } catch (error) {
      log.error({ error }, 'notifications could not be looked up');
    }
  }

  #fill(address: string): void {
    const { clock, engine } = this.#options;
    const lane = this.#laneOf(address);
    const free = Math.min(lane.free(clock.now(), LANE_MAX), TOTAL_MAX - this.#running.size);
    if (free <= 0) return;
    const due = engine.catalogue.notificationsDue(address, clock.now(), free + lane.running.size);
    const waiting = due.filter(({ number }) => !lane.running.has(String(number)));
    for (const notification of waiting.slice(0, free)) this.#begin(lane, notification);
  }

  #begin(lane: Lane, notification: Notification): void {
    const name = String(notification.number);
    lane.running.add(name);
    const work = this.#deliver(lane, notification)
      .catch((error: unknown) => {
        if (!this.#isStopping()) this.#options.log.error({ error }, 'a notification could not be delivered');
        lane.failed(this.#options.clock.now());
      })
      .finally(() => {
        lane.running.delete(name);
        this.#running.delete(work);
        if (!this.#isStopping()) this.#fill(notification.address);
      });
    this.#running.add(work);
  }

  async #deliver(lane: Lane, notification: Notification): Promise<void> {
    const { vault, clock, settings, configuration } = this.#options;
    const { number, address, seed, happened } = notification;
    const { region, notificationHosts } = settings();
    const reach = allowedReach(notificationHosts, new URL(address).hostname);
    if (reach === 'none') return this.#giveUp([notification], 'its host is no longer allowed');
    const hostId = Buffer.from(configuration().internalName).toString('base64');
    const { error } = await postSigned({
      url: address,
      secret: notificationSecret(vault, seed),
      delivery: `s3-${number}`,
      event: `s3:${happened.event}`,
      body: messageOf(notification, { region, hostId }),
      at: clock.now(),
      signal: this.#stopping.signal,
      publicOnly: reach === 'public',
    });
    if (error === null) return this.#delivered(lane, notification);
    // An attempt that the stop cut off says nothing of the receiver.
    if (!this.#isStopping()) await this.#failed(lane, notification, error);
  }

  async #delivered(lane: Lane, { number, address, ...of }: Notification): Promise<void> {
    lane.succeeded();
    await this.#options.commit('endNotifications', { numbers: [number] });
    if (this.#failing.delete(address)) await this.#recordEvent(of, 'notice', `are delivered to ${address} again.`);
  }

  async #failed(lane: Lane, notification: Notification, reason: string): Promise<void> {
    const { clock, commit } = this.#options;
    const now = clock.now();
    const { number, address, attempts, happened } = notification;
    const until = Math.max(lane.failed(now), now + waitAfter(attempts, FIRST_WAIT_MS));
    if (now - happened.at >= TRIED_FOR_MS) return this.#giveUp([notification], reason);
    await commit('postponeNotification', { number, until });
    if (this.#failing.has(address)) return;
    this.#failing.add(address);
    await this.#recordEvent(
      notification,
      'warning',
      `could not be delivered to ${address}: ${reason}. It is tried again.`,
    );
  }

  /** Said once until the address works again: otherwise failures would fill the log. */
  async #giveUp(given: readonly Notification[], reason: string): Promise<void> {
    const [first] = given;
    if (!first) return;
    await this.#options.commit('endNotifications', { numbers: given.map(({ number }) => number) });
    const mark = `${first.address} given up`;
    if (this.#failing.has(mark)) return;
    this.#failing.add(mark).add(first.address);
    await this.#recordEvent(first, 'error', `to ${first.address} are given up: ${reason}.`);
  }

  #trim(addresses: readonly string[]): void {
    const { clock, commit, log } = this.#options;
    this.#trimmedAt = clock.now();
    for (const address of addresses) {
      commit('trimNotifications', { address, keep: WAITING_MAX })
        .then((trimmed) => {
          const text = `${counted(trimmed, 'notifications')} to a webhook were given up, because too many wait`;
          if (trimmed > 0) log.warn({ address, trimmed }, text);
        })
        .catch((error: unknown) => log.error({ error }, 'notifications could not be given up'));
    }
  }

  async #recordEvent(
    { bucket, account }: Pick<Notification, 'bucket' | 'account'>,
    severity: NewEvent['severity'] & string,
    what: string,
  ): Promise<void> {
    const { store, events } = this.#options;
    await store.write((tx) => {
      const owner = findAccount(tx, account)?.name ?? account;
      const title = `Notifications of container ${bucket} of account ${owner} ${what}`;
      events.record(tx, { severity, title, subject: `account:${account}` });
    });
  }

  #laneOf(address: string): Lane {
    const lane = this.#lanes.get(address) ?? new Lane(FIRST_WAIT_MS);
    this.#lanes.set(address, lane);
    return lane;
  }

  /** Nothing waits for it any more. */
  #forget(address: string): void {
    if ((this.#lanes.get(address)?.running.size ?? 0) > 0) return;
    this.#lanes.delete(address);
    this.#failing.delete(`${address} given up`);
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }
}
