import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ManualClock } from '@granary/kernel';
import { readBill } from './billing/testing/read-bill.ts';
import { MailSettingService } from './settings/mail.ts';
import { startTestPortal } from './testing/portal.ts';

/** Goal: what a caller sends is what is kept, for parameters whose rules are tested below the edge. */
const clock = new ManualClock('2026-03-01T00:00:00Z');
const portal = await startTestPortal({ clock });
after(() => portal.stop());

const { admin, owner, friend, name } = portal;
const HOUR_MS = 3_600_000;

async function newProvider(): Promise<{ id: number; key: string }> {
  const key = name('provider');
  return { id: (await admin.client.providers.create({ name: key, key, cloud_id: 1 })).data.provider_id, key };
}

const priceAt = async (provider: string, engine: string) => {
  const tables = Object.values((await admin.client.pricing.get()).data.io_engines);
  return tables.find((table) => table.name === provider)?.data[engine]?.value;
};

test('the settings of mail are those that were sent, and the password is the one the mail server gets', async () => {
  const sent = {
    smtp_host: '127.0.0.1',
    smtp_port: 2525,
    smtp_secure: true,
    smtp_user: 'portal',
    smtp_from: 'portal@example.org',
    notice_to: 'ops@example.org',
    notice_severity: 3,
  };
  const { mail } = await admin.client.settings.setMail({ ...sent, smtp_password: 'very secret' });
  assert.deepEqual(mail, sent);
  assert.deepEqual((await admin.client.settings.getMail()).mail, sent);
  assert.equal(new MailSettingService(portal.tools).mail()?.server.password, 'very secret');
});

test('a price is set for the provider and the engine that are named', async () => {
  const { id: provider_id, key } = await newProvider();
  await admin.client.providers.setFlavorPrice({ provider_id, flavor_key: 'engine_small', price: '7.25' });
  assert.equal(await priceAt(key, 'engine_small'), '7.25');
  assert.notEqual(await priceAt(key, 'engine_medium'), '7.25');
  assert.notEqual(await priceAt('local', 'engine_small'), '7.25');
});

test('a price file counts for the providers that are named', async () => {
  const [first, second, third] = [await newProvider(), await newProvider(), await newProvider()];
  const bytes = Buffer.from('kind,key,hourly_price_usd\nengine,engine_small,8.5\n');
  const file = { filename: 'prices.csv', bytes };
  await admin.client.pricing.upload({ provider_ids: [first.id, second.id], file });
  const prices = [first, second, third].map(({ key }) => priceAt(key, 'engine_small'));
  assert.deepEqual((await Promise.all(prices)).slice(0, 2), ['8.5', '8.5']);
  assert.notEqual(await prices[2], '8.5');
});

test('a compute account is at the provider that is named, with its description', async () => {
  const { id: provider_id } = await newProvider();
  const display_name = name('farm');
  await friend.client.computes.create({ provider_id, display_name, display_description: 'films' });
  const made = (await friend.client.computes.list()).data.find((one) => one.display_name === display_name);
  assert.deepEqual([made?.provider_id, made?.display_description], [provider_id, 'films']);
});

test('a bill has what was used from the start to the end that are named, of the user who is named', async () => {
  const start_datetime = '2026-03-01 02:00';
  await portal.array(friend);
  await portal.array(owner);
  clock.advance(5 * HOUR_MS);
  const bill = async (input: { end_datetime: string; user_id?: string }) =>
    readBill((await admin.client.billing.download({ start_datetime, ...input })).bytes).items;
  const engines = (items: Awaited<ReturnType<typeof bill>>) =>
    items.filter(({ item }) => item === 'engine:engine_medium').map(({ user, hours }) => [user, Number(hours)]);
  const end_datetime = '2026-03-01 03:00';
  assert.deepEqual(engines(await bill({ end_datetime, user_id: String(friend.id) })), [['friend', 1]]);
  assert.deepEqual(engines(await bill({ end_datetime: '2026-03-01 04:00' })).sort(), [
    ['friend', 2],
    ['owner', 2],
  ]);
});
