import type { Vault } from '../auth/vault.ts';
import { formatUtc, type Clock } from '../clock.ts';
import { severityWord } from '../events/events.ts';
import type { RecordedEvent } from '../events/repository.ts';
import { guardedPost } from '../net/post.ts';
import { connectionReason } from '../net/reason.ts';
import { signatureHeaders } from './signature.ts';
import type { Webhook, WebhookSource } from './webhook.ts';

/** How an attempt ended. */
export interface Attempt {
  /** Of HTTP; null when no answer came. */
  readonly status: number | null;
  /** Null when the receiver accepted it. */
  readonly error: string | null;
}

interface SenderParts {
  readonly vault: Vault;
  readonly clock: Clock;
  readonly source: () => WebhookSource;
}

type PostedEvent = Omit<RecordedEvent, 'id'> & { readonly id: number | null };

const POST_MS_MAX = 10_000;

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
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Granary-Webhook/1',
      'granary-delivery': delivery,
      'granary-event': event.kind,
      ...signatureHeaders(vault.unseal(webhook.secretSealed), body, clock.now()),
    };
    try {
      const url = new URL(vault.unseal(webhook.urlSealed));
      const status = await guardedPost({ url, headers, body, timeoutMs: POST_MS_MAX, signal });
      const isAccepted = status >= 200 && status < 300;
      return { status, error: isAccepted ? null : `it answered HTTP ${status}` };
    } catch (error) {
      return { status: null, error: connectionReason(error) };
    }
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
