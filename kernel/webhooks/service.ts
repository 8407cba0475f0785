import { newSecret, type Vault } from '../auth/vault.ts';
import type { Clock } from '../clock.ts';
import { badParameter, fail, GranaryError } from '../errors.ts';
import type { EventLog } from '../events/events.ts';
import { countWantedEvents, lastEventId } from '../events/repository.ts';
import type { Log } from '../log.ts';
import { outgoingAddress } from '../net/outgoing.ts';
import type { Page } from '../records/paging.ts';
import type { Changes } from '../records/table.ts';
import type { Db, Store } from '../store/index.ts';
import { WebhookDeliveries } from './deliveries.ts';
import * as repository from './repository.ts';
import { WebhookSender } from './sender.ts';
import type { Attempt } from './signed-post.ts';
import type { Webhook, WebhookSource } from './webhook.ts';

export interface WebhookParts {
  readonly store: Store;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly log: Log;
  readonly source: () => WebhookSource;
}

/** A webhook as it is shown. */
export interface ShownWebhook {
  readonly webhook: Webhook;
  readonly url: string;
  readonly waiting: number;
}

export interface NewWebhook {
  readonly name: string;
  readonly url: string;
  readonly severity: number;
  readonly kinds?: readonly string[] | undefined;
}

export interface WebhookChange extends Changes<NewWebhook> {
  readonly enabled?: boolean | undefined;
  readonly renewSecret?: boolean | undefined;
}

const WEBHOOKS_MAX = 20;
const SECRET_BYTES = 32;

/** Addresses that the events of a service are posted to. */
export class WebhookService {
  readonly deliveries: WebhookDeliveries;
  readonly #parts: WebhookParts;
  readonly #sender: WebhookSender;

  constructor(parts: WebhookParts) {
    this.#parts = parts;
    this.#sender = new WebhookSender(parts);
    this.deliveries = new WebhookDeliveries(parts, this.#sender);
  }

  list(page: Page): { webhooks: ShownWebhook[]; count: number } {
    return this.#parts.store.read((db) => ({
      webhooks: repository.listWebhooks(db, page).map((webhook) => this.#show(db, webhook)),
      count: repository.countWebhooks(db),
    }));
  }

  /** Not found: `webhook_not_found`. */
  get(id: number): ShownWebhook {
    return this.#parts.store.read((db) => this.#show(db, found(db, id)));
  }

  /** Events from before are not posted. */
  async create(wanted: NewWebhook, actor: string): Promise<ShownWebhook & { secret: string }> {
    const { store, vault, clock, events } = this.#parts;
    const { name, severity } = wanted;
    const kinds = kindsOf(wanted.kinds) ?? null;
    const url = await checkedUrl(wanted.url);
    const secret = newSecret(SECRET_BYTES);
    const now = clock.now();
    const shown = await store.write((tx) => {
      if (repository.findWebhookByName(tx, name)) throw fail('name_taken', { name });
      if (repository.countWebhooks(tx) >= WEBHOOKS_MAX) throw fail('webhooks_limit', { max: WEBHOOKS_MAX });
      const id = repository.insertWebhook(tx, {
        ...NEW,
        name,
        severity,
        kinds,
        urlSealed: vault.seal(url),
        secretSealed: vault.seal(secret),
        deliveredEvent: lastEventId(tx),
        createdAt: now,
        modifiedAt: now,
      });
      events.record(tx, { severity: 'notice', title: `Webhook ${name} was added.`, subject: `webhook:${id}`, actor });
      // Its own creation is no news to it.
      repository.updateWebhook(tx, id, { deliveredEvent: lastEventId(tx) });
      return this.#show(tx, found(tx, id));
    });
    return { ...shown, secret };
  }

  async update(id: number, change: WebhookChange, actor: string): Promise<ShownWebhook & { secret: string | null }> {
    const { store, vault, clock, events } = this.#parts;
    this.get(id);
    const { name, severity, enabled: isEnabled } = change;
    const kinds = kindsOf(change.kinds);
    const urlSealed = change.url === undefined ? undefined : vault.seal(await checkedUrl(change.url));
    const secret = change.renewSecret === true ? newSecret(SECRET_BYTES) : null;
    const secretSealed = secret === null ? undefined : vault.seal(secret);
    // A webhook that is corrected or enabled is tried at once, and what failed before does not count.
    const isCorrected = urlSealed !== undefined || secretSealed !== undefined || isEnabled === true;
    const retry = isCorrected ? { nextAttemptAt: 0, failures: 0 } : {};
    const shown = await store.write((tx) => {
      const before = found(tx, id);
      const taken = name === undefined ? undefined : repository.findWebhookByName(tx, name);
      if (taken && taken.id !== id) throw fail('name_taken', { name: name ?? '' });
      const modifiedAt = clock.now();
      const isWantedAnew = severity !== undefined || kinds !== undefined;
      // What it did not want until now is not posted either.
      const passed = isWantedAnew && this.#show(tx, before).waiting === 0 ? { deliveredEvent: lastEventId(tx) } : {};
      const changes = { name, severity, kinds, isEnabled, urlSealed, secretSealed, modifiedAt, ...retry, ...passed };
      repository.updateWebhook(tx, id, changes);
      const title = `Webhook ${before.name} was changed.`;
      events.record(tx, { severity: 'notice', title, subject: `webhook:${id}`, actor });
      return this.#show(tx, found(tx, id));
    });
    if (isCorrected || isEnabled === false) this.deliveries.beginAnew(id);
    return { ...shown, secret };
  }

  async delete(id: number, actor: string): Promise<void> {
    const { store, events } = this.#parts;
    await store.write((tx) => {
      const { name } = found(tx, id);
      repository.deleteWebhook(tx, id);
      events.record(tx, { severity: 'notice', title: `Webhook ${name} was removed.`, subject: `webhook:${id}`, actor });
    });
  }

  /** Also of a disabled one. Events that wait are not touched. */
  async test(id: number, actor: string): Promise<Attempt & { milliseconds: number }> {
    const { webhook } = this.get(id);
    const started = performance.now();
    const attempt = await this.#sender.test(webhook, actor, new AbortController().signal);
    return { ...attempt, milliseconds: Math.round(performance.now() - started) };
  }

  #show(db: Db, webhook: Webhook): ShownWebhook {
    const { severity: severityMax, kinds, deliveredEvent } = webhook;
    return {
      webhook,
      url: this.#parts.vault.unseal(webhook.urlSealed),
      waiting: countWantedEvents(db, { severityMax, kinds }, deliveredEvent),
    };
  }
}

const NEW = {
  isEnabled: true,
  failures: 0,
  nextAttemptAt: 0,
  skipped: 0,
  lastStatus: null,
  lastError: null,
  lastDeliveredAt: null,
};

/** No kinds are the default. */
function kindsOf(kinds: readonly string[] | undefined): readonly string[] | null | undefined {
  return kinds?.length === 0 ? null : kinds;
}

function found(db: Db, id: number): Webhook {
  const webhook = repository.findWebhook(db, id);
  if (!webhook) throw fail('webhook_not_found', { id });
  return webhook;
}

/** A name that does not resolve yet is accepted; one that leads to a forbidden address is refused, now and at each post. */
async function checkedUrl(text: string): Promise<string> {
  if (!URL.canParse(text))
    throw badParameter('target_url', 'must be an address such as https://hooks.example.org/granary');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '')
    throw badParameter('target_url', 'must not hold a user or a password; deliveries are signed instead');
  try {
    await outgoingAddress(url.hostname);
  } catch (error) {
    if (error instanceof GranaryError) throw fail('address_refused', { address: url.hostname });
  }
  return text;
}
