import { flag, generated, json, plain, Table, type Changes } from '../records/table.ts';
import { sqlPage, type Page } from '../records/paging.ts';
import type { Db, Tx } from '../store/index.ts';
import type { Webhook } from './webhook.ts';

const webhooks = new Table<Webhook, 'id'>('webhooks', {
  id: generated('id'),
  name: plain('name'),
  urlSealed: plain('url_sealed'),
  secretSealed: plain('secret_sealed'),
  severity: plain('severity'),
  kinds: json('kinds'),
  isEnabled: flag('is_enabled'),
  deliveredEvent: plain('delivered_event'),
  failures: plain('failures'),
  nextAttemptAt: plain('next_attempt_at'),
  skipped: plain('skipped'),
  lastStatus: plain('last_status'),
  lastError: plain('last_error'),
  lastDeliveredAt: plain('last_delivered_at'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});

const SELECT = `SELECT ${webhooks.fields()} FROM webhooks`;

export function listWebhooks(db: Db, page: Page): Webhook[] {
  return webhooks.all(db, `${SELECT} ORDER BY id LIMIT :limit OFFSET :start`, sqlPage(page));
}

export function countWebhooks(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM webhooks')?.n ?? 0;
}

export function findWebhook(db: Db, id: number): Webhook | undefined {
  return webhooks.get(db, `${SELECT} WHERE id = :id`, { id });
}

export function findWebhookByName(db: Db, name: string): Webhook | undefined {
  return webhooks.get(db, `${SELECT} WHERE name = :name`, { name });
}

export function insertWebhook(tx: Tx, webhook: Omit<Webhook, 'id'>): number {
  return webhooks.insert(tx, webhook);
}

export function updateWebhook(tx: Tx, id: number, change: Changes<Omit<Webhook, 'id'>>): void {
  webhooks.update(tx, { id }, change);
}

export function deleteWebhook(tx: Tx, id: number): void {
  tx.run('DELETE FROM webhooks WHERE id = :id', { id });
}
