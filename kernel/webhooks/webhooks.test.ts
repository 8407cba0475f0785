import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { temporaryFolder } from '../../testing/folders.ts';
import { until } from '../../testing/waiting.ts';
import { Vault } from '../auth/vault.ts';
import { ManualClock } from '../clock.ts';
import { EventLog, type NewEvent } from '../events/events.ts';
import { createLog } from '../log.ts';
import { WHOLE } from '../records/paging.ts';
import { Store } from '../store/index.ts';
import { WebhookDeliveries } from './deliveries.ts';
import { updateWebhook } from './repository.ts';
import { WebhookSender } from './sender.ts';
import { WebhookService, type NewWebhook } from './service.ts';
import { isSigned, startReceiver } from './testing/receiver.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

function setUp(t: TestContext) {
  const store = new Store(join(temporaryFolder(t), 'test.db'), { component: 'test', steps: [] });
  const clock = new ManualClock('2026-03-01T12:00:00Z');
  const vault = new Vault(Buffer.alloc(32, 7));
  const lines: string[] = [];
  const log = createLog('test', 'debug', { write: (line: string) => void lines.push(line) });
  const events = new EventLog(clock);
  const source = () => ({ service: 'array', name: 'tank', id: 'vsa-00000001' });
  const parts = { store, clock, vault, log, events, source };
  const webhooks = new WebhookService(parts);
  const started: WebhookDeliveries[] = [];
  const start = (waitingMax = 1000) => {
    const deliveries = new WebhookDeliveries(parts, new WebhookSender(parts), { pollMs: 5, waitingMax });
    started.push(deliveries);
    deliveries.start();
    return deliveries;
  };
  t.after(async () => {
    await Promise.all(started.map((deliveries) => deliveries.stop()));
    store.close();
  });
  const record = (event: Partial<NewEvent> & { title: string }) =>
    store.write((tx) => events.record(tx, { subject: 'pool:1', severity: 'warning', ...event }));
  const create = (url: string, wanted: Partial<NewWebhook> = {}) =>
    webhooks.create({ name: 'on-call', severity: 4, ...wanted, url }, 'dana');
  const titles = () => store.read((db) => events.list(db, { start: 0, limit: 0 })).messages.map((one) => one.msg_title);
  return { store, clock, vault, events, webhooks, start, record, create, titles, lines };
}

test('events from the creation on are posted in order, once each, signed with the secret and the time', async (t) => {
  const receiver = await startReceiver(t);
  const { record, create, start, clock, webhooks } = setUp(t);
  await record({ title: 'Before.' });
  const { secret, webhook } = await create(receiver.url);
  await record({ title: 'Drive 7 failed.', severity: 'error', subject: 'drive:7' });
  await record({ title: 'Somebody looked.', severity: 'info' });
  await record({ title: 'Pool is full.' });
  start();
  await until(() => receiver.posted.length === 2);
  const [first] = receiver.posted;
  assert.deepEqual(receiver.titles(), ['Drive 7 failed.', 'Pool is full.']);
  assert.ok(receiver.posted.every((posted) => isSigned(posted, secret)));
  assert.ok(!isSigned({ ...first!, text: first!.text.replace('7', '8') }, secret), 'a changed body is not signed');
  assert.equal(first!.headers['granary-timestamp'], String(clock.now() / 1000));
  assert.deepEqual(first!.body, {
    webhook: 'on-call',
    source: { service: 'array', name: 'tank', id: 'vsa-00000001' },
    skipped: 0,
    event: {
      id: first!.body.event.id,
      kind: 'drive',
      severity: 3,
      severity_name: 'error',
      title: 'Drive 7 failed.',
      subject: 'drive:7',
      actor: 'system',
      time: '2026-03-01 12:00:00 UTC',
    },
  });
  await until(() => webhooks.get(webhook.id).waiting === 0);
  assert.equal(webhooks.get(webhook.id).webhook.lastStatus, 200);
});

test('a webhook gets the kinds it wants, and logins only when it names them', async (t) => {
  const [all, some] = [await startReceiver(t), await startReceiver(t)];
  const { record, create, start } = setUp(t);
  await create(all.url, { severity: 6 });
  await create(some.url, { name: 'logins', severity: 6, kinds: ['login', 'drive'] });
  await record({ title: 'login', kind: 'login', severity: 'info' });
  await record({ title: 'drive', subject: 'drive:1' });
  await record({ title: 'pool' });
  start();
  await until(() => all.titles().includes('pool') && some.posted.length === 2);
  assert.deepEqual(all.titles().slice(-2), ['drive', 'pool']);
  assert.deepEqual(some.titles(), ['login', 'drive']);
});

test('what is not accepted is tried again after longer and longer pauses, and reported once', async (t) => {
  const receiver = await startReceiver(t);
  const { record, create, start, clock, webhooks, titles } = setUp(t);
  const { webhook } = await create(receiver.url);
  receiver.status = 500;
  await record({ title: 'Drive 7 failed.' });
  start();
  const failures = () => webhooks.get(webhook.id).webhook.failures;
  const pauses: number[] = [];
  for (let attempt = 1; attempt <= 12; attempt++) {
    await until(() => failures() === attempt);
    const { nextAttemptAt } = webhooks.get(webhook.id).webhook;
    pauses.push((nextAttemptAt - clock.now()) / 1000);
    clock.set(nextAttemptAt);
  }
  assert.deepEqual(pauses.slice(0, 4), [5, 10, 20, 40]);
  assert.equal(pauses.at(-1), 15 * 60, 'never longer than a quarter of an hour');
  receiver.status = 204;
  await until(() => receiver.titles().includes('Drive 7 failed.'));
  assert.equal(titles().filter((title) => title.startsWith('Webhook on-call could not deliver')).length, 1);
  await until(() => titles().some((title) => title === 'Webhook on-call delivers events again.'));
  assert.equal(receiver.titles().filter((title) => title === 'Drive 7 failed.').length, 1);
});

test('what was not delivered when the service ended is delivered by the next', async (t) => {
  const receiver = await startReceiver(t);
  const { record, create, start, clock } = setUp(t);
  await create(receiver.url);
  receiver.status = 503;
  await record({ title: 'Drive 7 failed.' });
  const first = start();
  await until(() => receiver.requests() === 1);
  await first.stop();
  await record({ title: 'Drive 8 failed.' });
  receiver.status = 200;
  clock.advance(MINUTE_MS);
  start();
  await until(() => receiver.titles().includes('Drive 8 failed.'));
  assert.deepEqual(
    receiver.titles().filter((title) => title.startsWith('Drive')),
    ['Drive 7 failed.', 'Drive 8 failed.'],
  );
});

test('of more events than may wait the oldest are skipped, and deliveries say how many', async (t) => {
  const receiver = await startReceiver(t);
  const { record, create, start } = setUp(t);
  await create(receiver.url);
  for (let n = 1; n <= 15; n++) await record({ title: `${n}` });
  start(10);
  await until(() => receiver.posted.length === 10);
  assert.deepEqual(receiver.titles(), ['6', '7', '8', '9', '10', '11', '12', '13', '14', '15']);
  assert.equal(receiver.posted[0]!.body.skipped, 5);
});

test('an event that no receiver accepts for a day is skipped, and the next is tried', async (t) => {
  const receiver = await startReceiver(t);
  const { record, create, start, clock, webhooks } = setUp(t);
  const { webhook } = await create(receiver.url);
  receiver.status = 400;
  await record({ title: 'first' });
  clock.advance(DAY_MS);
  start();
  await until(() => webhooks.get(webhook.id).webhook.skipped === 1);
  await record({ title: 'second' });
  receiver.status = 200;
  clock.advance(MINUTE_MS);
  await until(() => receiver.titles().includes('second'));
  assert.ok(!receiver.titles().includes('first'));
});

test('a redirect is not followed', async (t) => {
  const receiver = await startReceiver(t);
  const { create, webhooks } = setUp(t);
  const { webhook } = await create(receiver.url);
  receiver.status = 307;
  const { status, error } = await webhooks.test(webhook.id, 'dana');
  assert.deepEqual([status, error, receiver.requests()], [307, 'it answered HTTP 307', 1]);
});

test('link-local, reserved and metadata addresses are refused when they are named, and again at each connection', async (t) => {
  const { create, webhooks, store, vault } = setUp(t);
  for (const url of ['http://169.254.169.254/latest', 'https://[fe80::1]/', 'http://[::ffff:169.254.169.254]/'])
    await assert.rejects(create(url), /link-local, reserved and metadata addresses are refused/);
  assert.equal(webhooks.list(WHOLE).count, 0);
  // The name led elsewhere when the webhook was made.
  const { webhook } = await create('http://localhost:9/');
  await store.write((tx) => updateWebhook(tx, webhook.id, { urlSealed: vault.seal('http://169.254.169.254/') }));
  const { status, error } = await webhooks.test(webhook.id, 'dana');
  assert.equal(status, null);
  assert.match(String(error), /link-local, reserved and metadata addresses are refused/);
});

test('a test is posted at once, also for a disabled webhook, and says how the receiver answered', async (t) => {
  const receiver = await startReceiver(t);
  const { create, webhooks } = setUp(t);
  const { webhook, secret } = await create(receiver.url);
  await webhooks.update(webhook.id, { enabled: false }, 'dana');
  assert.deepEqual(await webhooks.test(webhook.id, 'dana').then(({ status, error }) => [status, error]), [200, null]);
  const [posted] = receiver.posted;
  assert.deepEqual([posted!.body.event.kind, posted!.body.event.id], ['test', null]);
  assert.ok(isSigned(posted!, secret));
  receiver.status = 410;
  assert.equal((await webhooks.test(webhook.id, 'dana')).error, 'it answered HTTP 410');
});

test('a new secret signs from then on, and no secret is on disk, in the log or in events', async (t) => {
  const receiver = await startReceiver(t);
  const { create, webhooks, store, titles, lines } = setUp(t);
  const { webhook, secret: old } = await create(receiver.url);
  const { secret } = await webhooks.update(webhook.id, { renewSecret: true }, 'dana');
  assert.notEqual(secret, old);
  assert.equal((await webhooks.update(webhook.id, { severity: 3 }, 'dana')).secret, null);
  await webhooks.test(webhook.id, 'dana');
  assert.ok(isSigned(receiver.posted[0]!, secret!) && !isSigned(receiver.posted[0]!, old));
  const kept = JSON.stringify(store.read((db) => db.all<object>('SELECT * FROM webhooks')));
  for (const text of [old, secret!, 'token=abc'])
    assert.ok(![kept, ...titles(), ...lines].some((each) => each.includes(text)), text);
});

test('names are taken once, addresses hold no password, and there are at most twenty webhooks', async (t) => {
  const { create, webhooks } = setUp(t);
  const { webhook } = await create('http://127.0.0.1:9/');
  await assert.rejects(create('http://127.0.0.1:9/', { name: 'On-Call' }), /The name On-Call is taken/);
  await assert.rejects(
    create('http://ada:secret@127.0.0.1/', { name: 'b' }),
    /target_url must not hold a user or a password/,
  );
  await assert.rejects(create('http://:80/', { name: 'b' }), /target_url must be an address/);
  for (let n = 2; n <= 20; n++) await create('http://127.0.0.1:9/', { name: `hook ${n}` });
  await assert.rejects(create('http://127.0.0.1:9/', { name: 'one more' }), /at most 20 webhooks/);
  await assert.rejects(webhooks.update(webhook.id, { name: 'hook 2' }, 'dana'), /The name hook 2 is taken/);
  await webhooks.delete(webhook.id, 'dana');
  await assert.rejects(webhooks.delete(webhook.id, 'dana'), /was not found/);
});

test('a webhook that wants more from now on is not sent what it did not want before', async (t) => {
  const receiver = await startReceiver(t);
  const { record, create, start, webhooks } = setUp(t);
  const { webhook } = await create(receiver.url, { severity: 3 });
  await record({ title: 'old notice', severity: 'notice' });
  await webhooks.update(webhook.id, { severity: 5, kinds: ['pool'] }, 'dana');
  await record({ title: 'new notice', severity: 'notice' });
  start();
  await until(() => receiver.posted.length === 1);
  assert.deepEqual(receiver.titles(), ['new notice']);
});

test('an accepted event is not posted again when that cannot be put on record', async (t) => {
  const receiver = await startReceiver(t);
  const { record, create, start, store, clock } = setUp(t);
  await create(receiver.url);
  await record({ title: 'Drive 7 failed.' });
  const write = t.mock.method(store, 'write', () => Promise.reject(new Error('the disk is full')));
  start();
  await until(() => write.mock.callCount() > 0);
  write.mock.restore();
  clock.advance(MINUTE_MS);
  await record({ title: 'Drive 8 failed.' });
  await until(() => receiver.posted.length === 2);
  assert.deepEqual(receiver.titles(), ['Drive 7 failed.', 'Drive 8 failed.']);
});

test('no kinds are all kinds again, logins excepted', async (t) => {
  const receiver = await startReceiver(t);
  const { create, webhooks } = setUp(t);
  const { webhook } = await create(receiver.url, { kinds: ['login'] });
  assert.deepEqual(webhook.kinds, ['login']);
  assert.equal((await webhooks.update(webhook.id, { kinds: [] }, 'dana')).webhook.kinds, null);
  assert.equal((await create(receiver.url, { name: 'other', kinds: [] })).webhook.kinds, null);
});

test('a webhook that is corrected does not wait: neither for the attempt under way nor for the pause after those before', async (t) => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  t.after(() => {
    silent.close();
    silent.closeAllConnections();
  });
  await once(silent, 'listening');
  const receiver = await startReceiver(t);
  const { record, create, webhooks, store } = setUp(t);
  webhooks.deliveries.start();
  t.after(() => webhooks.deliveries.stop());
  const { webhook } = await create(`http://127.0.0.1:${(silent.address() as AddressInfo).port}/`);
  await store.write((tx) => updateWebhook(tx, webhook.id, { failures: 9 }));
  const asked = once(silent, 'request');
  await record({ title: 'Drive 7 failed.' });
  await asked;
  const { webhook: corrected } = await webhooks.update(webhook.id, { url: receiver.url }, 'dana');
  assert.deepEqual([corrected.failures, corrected.nextAttemptAt], [0, 0]);
  await until(() => receiver.titles().includes('Drive 7 failed.'));
  assert.equal(webhooks.get(webhook.id).webhook.lastError, null);
});
