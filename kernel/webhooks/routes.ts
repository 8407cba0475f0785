import { formatUtc } from '../clock.ts';
import type { Page } from '../records/paging.ts';
import { shownAddress } from './shown-address.ts';
import type { NewWebhook, ShownWebhook, WebhookChange, WebhookService } from './service.ts';

interface Named {
  readonly id: number;
}

interface By {
  readonly actor: { readonly username: string };
}

interface CreationRequest extends Omit<NewWebhook, 'url'> {
  readonly target_url: string;
}

interface ChangeRequest extends Omit<WebhookChange, 'renewSecret' | 'url'> {
  readonly id: number;
  readonly target_url?: string | undefined;
  readonly renew_secret?: boolean | undefined;
}

/** The handlers of `webhookEndpoints`, for whichever service declares them. */
export function webhookRoutes(webhooks: WebhookService) {
  return {
    list: (page: Page) => {
      const { webhooks: shown, count } = webhooks.list(page);
      return { webhooks: shown.map(viewOf), count };
    },
    create: async ({ target_url: url, ...wanted }: CreationRequest, { actor }: By) => {
      const created = await webhooks.create({ ...wanted, url }, actor.username);
      return { webhook: viewOf(created), secret: created.secret };
    },
    get: ({ id }: Named) => ({ webhook: viewOf(webhooks.get(id)) }),
    update: async ({ id, target_url: url, renew_secret: renewSecret, ...change }: ChangeRequest, { actor }: By) => {
      const updated = await webhooks.update(id, { ...change, url, renewSecret }, actor.username);
      return { webhook: viewOf(updated), secret: updated.secret };
    },
    delete: async ({ id }: Named, { actor }: By) => {
      await webhooks.delete(id, actor.username);
      return {};
    },
    test: async ({ id }: Named, { actor }: By) => {
      const { status, error, milliseconds } = await webhooks.test(id, actor.username);
      const result = error === null ? ('delivered' as const) : ('failed' as const);
      return { test: { result, http_status: status, reason: error, milliseconds } };
    },
  };
}

function viewOf({ webhook, url, waiting }: ShownWebhook) {
  const isRetried = webhook.failures > 0 && webhook.isEnabled;
  return {
    id: webhook.id,
    name: webhook.name,
    target_url: url,
    shown_url: shownAddress(url),
    severity: webhook.severity,
    kinds: webhook.kinds === null ? null : [...webhook.kinds],
    state: webhook.isEnabled ? ('enabled' as const) : ('disabled' as const),
    waiting,
    skipped: webhook.skipped,
    failures: webhook.failures,
    last_status: webhook.lastStatus,
    last_error: webhook.lastError,
    last_delivered_at: timeOf(webhook.lastDeliveredAt),
    next_attempt_at: isRetried ? formatUtc(webhook.nextAttemptAt) : null,
    created_at: formatUtc(webhook.createdAt),
    modified_at: formatUtc(webhook.modifiedAt),
  };
}

function timeOf(at: number | null): string | null {
  return at === null ? null : formatUtc(at);
}
