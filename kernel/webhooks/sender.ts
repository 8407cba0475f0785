import type { Vault } from '../auth/vault.ts';
import { formatUtc, type Clock } from '../clock.ts';
import { severityWord } from '../events/events.ts';
import type { RecordedEvent } from '../events/repository.ts';
import { postSigned, type Attempt } from './signed-post.ts';
import type { Webhook, WebhookSource } from './webhook.ts';

interface SenderParts {
  readonly vault: Vault;
  readonly clock: Clock;
  readonly source: () => WebhookSource;
}

type PostedEvent = Omit<RecordedEvent, 'id'> & { readonly id: number | null };

/** Makes deliveries, signs them and posts them. */
export class WebhookSender {
  readonly #parts: SenderParts;

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  deliver(webhook: Webhook, event: RecordedEvent, signal: AbortSignal): Promise<Attempt> {
    return this.#post(webhook, event, `${webhook.id}-${event.id}`, signal);
  }

  /** What a receiver would be sent of an event, with words that say that it is a test. */
  test(webhook: Webhook, actor: string, signal: AbortSignal): Promise<Attempt> {
    const now = this.#parts.clock.now();
    const title = `This is a test of webhook ${webhook.name}.`;
    const event = { id: null, createdAt: now, severity: 6, title, subject: 'webhook:test', kind: 'test', actor };
    return this.#post(webhook, event, `${webhook.id}-test-${now}`, signal);
  }

  async #post(webhook: Webhook, event: PostedEvent, delivery: string, signal: AbortSignal): Promise<Attempt> {
    const { vault, clock } = this.#parts;
    const body = this.#bodyOf(webhook, event);
    const url = vault.unseal(webhook.urlSealed);
    const secret = vault.unseal(webhook.secretSealed);
    return postSigned({ url, secret, delivery, event: event.kind, body, at: clock.now(), signal });
  }

  #bodyOf({ name, skipped }: Webhook, event: PostedEvent): string {
    const { id, kind, severity, title, subject, actor, createdAt } = event;
    const words = { id, kind, severity, severity_name: severityWord(severity), title, subject, actor };
    return JSON.stringify({
      webhook: name,
      source: this.#parts.source(),
      skipped,
      event: { ...words, time: formatUtc(createdAt) },
    });
  }
}
