import type { Clock } from '../clock.ts';
import type { EventLog } from '../events/events.ts';
import { countWantedEvents, lastEventId, nextWantedEvent, wantedEventBefore } from '../events/repository.ts';
import type { RecordedEvent } from '../events/repository.ts';
import type { Log } from '../log.ts';
import { WHOLE } from '../records/paging.ts';
import type { Store } from '../store/index.ts';
import { findWebhook, listWebhooks, updateWebhook } from './repository.ts';
import type { WebhookSender } from './sender.ts';
import type { Attempt } from './signed-post.ts';
import type { Webhook } from './webhook.ts';

interface DeliveryParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly log: Log;
}

interface DeliveryOptions {
  readonly pollMs?: number;
  readonly retryMs?: number;
  readonly waitingMax?: number;
}

const POLL_MS = 1_000;
const RETRY_MS = 5_000;
const RETRY_MS_MAX = 15 * 60_000;
const RETRY_DOUBLINGS_MAX = 20;
/** An event that is not accepted for so long is skipped. */
const TRIED_FOR_MS = 24 * 3_600_000;
/** Of more that wait, the oldest are skipped. */
const WAITING_MAX = 1_000;
const HOLD_MS = 60_000;
/** How far a webhook may fall behind the log with events it does not want before that is put on record. */
const UNWANTED_MAX = 1_000;

/**
 * Posts events, one after the other for each webhook, each until it is accepted. The event log is the queue: a webhook
 * keeps the number of the last event that is done with, which moves on in the transaction that records the attempt.
 * Killed between the receiver's answer and that transaction, the same event is posted again, under the same
 * `Granary-Delivery`.
 */
export class WebhookDeliveries {
  readonly #parts: DeliveryParts;
  readonly #sender: WebhookSender;
  readonly #options: Required<DeliveryOptions>;
  readonly #underWay = new Map<number, Promise<void>>();
  /** Up to where the log holds nothing that a webhook wants, as far as that is not on record. */
  readonly #inspected = new Map<number, number>();
  /** After a failure of our own, such as a full disk, so that a receiver is not sent the same again and again. */
  readonly #heldUntil = new Map<number, number>();
  /** Attempts that are under way. */
  readonly #attempts = new Map<number, AbortController>();
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: DeliveryParts, sender: WebhookSender, options: DeliveryOptions = {}) {
    this.#parts = parts;
    this.#sender = sender;
    this.#options = { pollMs: POLL_MS, retryMs: RETRY_MS, waitingMax: WAITING_MAX, ...options };
  }

  start(): void {
    this.#timer = setInterval(() => this.#poll(), this.#options.pollMs).unref();
  }

  /** What is not delivered is delivered after the next start. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort();
    await Promise.all(this.#underWay.values());
  }

  /** Its address, its secret or whether it is wanted has changed: an attempt by what it was before ends now. */
  beginAnew(id: number): void {
    this.#heldUntil.delete(id);
    this.#attempts.get(id)?.abort();
  }

  #poll(): void {
    const { store, clock, log } = this.#parts;
    try {
      const newest = store.read(lastEventId);
      for (const webhook of store.read((db) => listWebhooks(db, WHOLE))) {
        const { id, isEnabled, nextAttemptAt } = webhook;
        const startsAt = Math.max(nextAttemptAt, this.#heldUntil.get(id) ?? 0);
        if (!isEnabled || startsAt > clock.now() || this.#underWay.has(id)) continue;
        if (this.#doneUntil(webhook) >= newest) continue;
        const work = this.#deliverAll(id)
          .catch((error: unknown) => {
            this.#heldUntil.set(id, clock.now() + HOLD_MS);
            log.warn({ error, webhook: id }, 'a webhook could not be served');
          })
          .finally(() => this.#underWay.delete(id));
        this.#underWay.set(id, work);
      }
    } catch (error) {
      log.warn({ error }, 'webhooks could not be read');
    }
  }

  /** Until there is nothing more, or the receiver fails. */
  async #deliverAll(id: number): Promise<void> {
    const { store } = this.#parts;
    await this.#skipExcess(id);
    while (!this.#isStopping()) {
      const webhook = store.read((db) => findWebhook(db, id));
      if (webhook?.isEnabled !== true) return;
      const event = await this.#next(webhook);
      if (!event) return;
      const changed = new AbortController();
      this.#attempts.set(id, changed);
      const signal = AbortSignal.any([this.#stopping.signal, changed.signal]);
      const attempt = await this.#sender.deliver(webhook, event, signal).finally(() => this.#attempts.delete(id));
      // An attempt that the stop or a change cut off says nothing of the receiver.
      if (attempt.error !== null && this.#isStopping()) return;
      if (attempt.error !== null && isAborted(changed)) continue;
      if (!(await this.#record(webhook, event, attempt))) return;
    }
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  async #next(webhook: Webhook): Promise<RecordedEvent | undefined> {
    const { store } = this.#parts;
    const { id, deliveredEvent } = webhook;
    const wanted = { severityMax: webhook.severity, kinds: webhook.kinds };
    const after = this.#doneUntil(webhook);
    const { event, newest } = store.read((db) => ({
      event: nextWantedEvent(db, wanted, after),
      newest: lastEventId(db),
    }));
    if (event) return event;
    this.#inspected.set(id, newest);
    if (newest - deliveredEvent >= UNWANTED_MAX)
      await store.write((tx) => updateWebhook(tx, id, { deliveredEvent: newest }));
    return undefined;
  }

  #doneUntil({ id, deliveredEvent }: Webhook): number {
    return Math.max(deliveredEvent, this.#inspected.get(id) ?? 0);
  }

  async #skipExcess(id: number): Promise<void> {
    const { store } = this.#parts;
    const webhook = store.read((db) => findWebhook(db, id));
    if (!webhook) return;
    const wanted = { severityMax: webhook.severity, kinds: webhook.kinds };
    const { deliveredEvent } = webhook;
    const until = store.read((db) => wantedEventBefore(db, wanted, deliveredEvent, this.#options.waitingMax));
    if (until === undefined) return;
    await store.write((tx) => {
      const waiting = countWantedEvents(tx, wanted, deliveredEvent);
      const skipped = webhook.skipped + waiting - countWantedEvents(tx, wanted, until);
      updateWebhook(tx, id, { deliveredEvent: until, skipped });
    });
  }

  /** Whether the next event may be tried now. */
  async #record(webhook: Webhook, event: RecordedEvent, { status, error }: Attempt): Promise<boolean> {
    const { store, clock } = this.#parts;
    const { id, failures, skipped } = webhook;
    const now = clock.now();
    if (error === null) {
      // Accepted is accepted, even if that cannot be put on record now.
      this.#inspected.set(id, event.id);
      const done = { deliveredEvent: event.id, failures: 0, nextAttemptAt: 0, lastDeliveredAt: now };
      await store.write((tx) => {
        updateWebhook(tx, id, { ...done, lastStatus: status, lastError: null });
        if (failures > 0) this.#recordEvent(tx, webhook, 'notice', 'delivers events again');
      });
      return true;
    }
    const isGivenUp = now - event.createdAt >= TRIED_FOR_MS;
    const delayMs = Math.min(this.#options.retryMs * 2 ** Math.min(failures, RETRY_DOUBLINGS_MAX), RETRY_MS_MAX);
    return store.write((tx) => {
      // It was corrected while the answer came: the new one is tried at once.
      const current = findWebhook(tx, id);
      if (current && !isSameReceiver(current, webhook)) return true;
      updateWebhook(tx, id, {
        failures: failures + 1,
        nextAttemptAt: now + delayMs,
        lastStatus: status,
        lastError: error,
        ...(isGivenUp && { deliveredEvent: event.id, skipped: skipped + 1 }),
      });
      // Once until it works again; otherwise failures would fill the log.
      if (failures === 0)
        this.#recordEvent(tx, webhook, 'warning', `could not deliver an event: ${error}. It is tried again`);
      return false;
    });
  }

  #recordEvent(
    tx: Parameters<EventLog['record']>[0],
    { id, name }: Webhook,
    severity: 'warning' | 'notice',
    what: string,
  ): void {
    this.#parts.events.record(tx, { severity, title: `Webhook ${name} ${what}.`, subject: `webhook:${id}` });
  }
}

function isSameReceiver(one: Webhook, other: Webhook): boolean {
  return one.urlSealed === other.urlSealed && one.secretSealed === other.secretSealed;
}

/** A function, because it changes while one awaits. */
function isAborted({ signal }: AbortController): boolean {
  return signal.aborted;
}
