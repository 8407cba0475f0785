import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { isSigned, startReceiver } from './receiver.ts';

interface Shown {
  readonly id: number;
  readonly name: string;
  readonly severity: number;
  readonly kinds: readonly string[] | null;
}

interface Wanted {
  readonly name: string;
  readonly target_url: string;
  readonly severity: number;
  readonly kinds: 'webhook'[];
}

/** The calls of `webhookEndpoints` at a running service. */
interface WebhookCalls {
  create(wanted: Wanted): Promise<{ webhook: Shown; secret: string }>;
  get(named: { id: number }): Promise<{ webhook: Shown }>;
  update(change: Partial<Wanted> & { id: number; renew_secret?: boolean }): Promise<{
    webhook: Shown;
    secret: string | null;
  }>;
  delete(named: { id: number }): Promise<unknown>;
  test(named: { id: number }): Promise<{ test: { result: string } }>;
}

/** What a service is asked for a webhook is what the webhook has, and no other webhook is touched. */
export async function checkWebhookParameters(t: TestContext, webhooks: WebhookCalls): Promise<void> {
  const receiver = await startReceiver(t);
  const wanted = { name: 'on-call', target_url: receiver.url, severity: 1, kinds: ['webhook' as const] };
  const { webhook: other } = await webhooks.create({ ...wanted, name: 'other' });
  const { webhook, secret: first } = await webhooks.create(wanted);
  const { id } = webhook;
  const asked = ({ name, severity, kinds }: Shown) => ({ name, severity, kinds });
  assert.deepEqual(asked(webhook), { name: 'on-call', severity: 1, kinds: ['webhook'] });

  const change = { name: 'night', severity: 0, kinds: [] };
  const { webhook: changed, secret: unchanged } = await webhooks.update({ id, ...change });
  assert.deepEqual(asked(changed), { name: 'night', severity: 0, kinds: null });
  assert.deepEqual((await webhooks.get({ id })).webhook, changed);
  assert.equal(unchanged, null);

  const { secret } = await webhooks.update({ id, renew_secret: true });
  assert.equal((await webhooks.test({ id })).test.result, 'delivered');
  assert.ok(isSigned(receiver.posted[0]!, secret!) && !isSigned(receiver.posted[0]!, first));
  assert.equal(receiver.posted[0]!.body.webhook, 'night');

  await webhooks.delete({ id });
  await assert.rejects(webhooks.get({ id }));
  assert.deepEqual(asked((await webhooks.get({ id: other.id })).webhook), asked(other));
}
