import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { objectsApi } from '@granary/contract/objects';
import { portalApi } from '@granary/contract/portal';
import { replyFacts } from '../src/contract/reply-facts.ts';

/** Goal: a secret that a reply shows once stands under its name, ready to be copied, without the rest of the record. */

function shown(...reply: Parameters<typeof replyFacts>): string[] {
  return replyFacts(...reply).map(({ label, text, isOnce }) => `${label}: ${text}${isOnce ? ' (once)' : ''}`);
}

test('a new user of an array shows the name, the key and the password that was made', () => {
  const user = { id: 3, username: 'ana', email: null, role: 'user', created_at: '2026-01-31', access_key: 'AK' };
  assert.deepEqual(shown(arrayApi.groups.users.create, { user, initial_password: 'pw' }), [
    'User name: ana',
    'Access key: AK (once)',
    'First password: pw (once)',
  ]);
});

test('a new S3 key shows both of its halves', () => {
  const credentials = [{ access: 'AK', secret: 'SK', user_id: 'u', account_id: 'a' }];
  assert.deepEqual(shown(objectsApi.groups.users.resetS3Secret, { credentials, count: 1 }), [
    'Access key: AK',
    'Secret: SK (once)',
  ]);
});

test('a webhook shows its secret, and its address only where somebody asks for it', () => {
  const webhook = { id: 1, name: 'on-call', target_url: 'https://hook.example.org', severity: 4 };
  assert.deepEqual(shown(portalApi.groups.webhooks.create, { webhook, secret: 'S' }), [
    'Name: on-call',
    'Secret: S (once)',
  ]);
  assert.deepEqual(
    shown(portalApi.groups.webhooks.update, { webhook, secret: null }).filter((one) => one.endsWith('(once)')),
    [],
  );
});

test('the code by which a machine joins is shown once, with its end', () => {
  const data = { name: 'rack 2', code: 'C', expires_at: '2026-01-31 10:00:00' };
  assert.deepEqual(shown(portalApi.groups.clouds.joinCode, { data }), [
    'Name: rack 2',
    'Code: C (once)',
    'Expires at: 2026-01-31 10:00:00',
  ]);
});

test('a reply without a secret shows what it says', () => {
  const reply = { test: { result: 'failed', http_status: null, reason: 'refused', milliseconds: 3 } };
  assert.deepEqual(shown(arrayApi.groups.webhooks.test, reply), [
    'Result: failed',
    'Reason: refused',
    'Milliseconds: 3',
  ]);
});
