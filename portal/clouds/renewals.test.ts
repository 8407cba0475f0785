import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import { daysLeft, Issuer, ManualClock, parseJoinCode, splitChain } from '@granary/kernel';
import { startJoiningCloud } from '../testing/joining-cloud.ts';
import { startTestPortal } from '../testing/portal.ts';

const DAY_MS = 24 * 3600_000;
/** TLS goes by the time of the machine, so the portal's clock is behind it first: what it signs then is valid now. */
const clock = new ManualClock(new Date(Date.now() - 80 * DAY_MS).toISOString());
const authority = Issuer.createAuthority('Authority of the tests', clock.now()).issuer;
const portal = await startTestPortal({ clock, authority });
after(() => portal.stop());

const { store, services, admin } = portal;
let uuids = 0;

async function joined(t: TestContext, name: string) {
  const joining = await startJoiningCloud({ uuid: `00000000-0000-4000-a000-${String(++uuids).padStart(12, '0')}` });
  t.after(() => joining.cloud.stop());
  const { code } = (await admin.client.clouds.joinCode({ name })).data;
  const { data } = await admin.client.clouds.join(joining.request(parseJoinCode(code)?.secret ?? ''));
  t.after(() => admin.client.clouds.delete({ id: data.cloud_id }));
  const trusted = () =>
    store.read((db) => db.get<{ trusted: string }>('SELECT trusted FROM clouds WHERE name = :name', { name }))
      ?.trusted ?? '';
  return { ...joining, trusted };
}

test('the issuer of a joined cloud is renewed after two months, over the connection of the portal', async (t) => {
  const { cloud, trusted } = await joined(t, 'far');
  const first = trusted();
  assert.equal(Math.round(daysLeft(first, clock.now())), 365);
  clock.advance(59 * DAY_MS);
  await services.renewals.renewDue();
  assert.deepEqual(cloud.renewed, []);
  clock.advance(20 * DAY_MS);
  await services.renewals.renewDue();
  const [sent = ''] = cloud.renewed;
  assert.equal(trusted(), splitChain(sent)[0]);
  assert.equal(splitChain(sent)[1], authority.certificate);
  assert.equal(Math.round(daysLeft(trusted(), clock.now())), 365);
  // The old certificate and the new one are of one key: either trusts what the cloud shows.
  await services.clouds.freshInventory(Number((await admin.client.clouds.list()).data.at(-1)?.id));
  await services.renewals.renewDue();
  assert.equal(cloud.renewed.length, 1, 'once is enough');
});

test('a cloud that cannot be renewed is tried again, and an event warns in time', async (t) => {
  const { cloud, trusted } = await joined(t, 'gone');
  const before = trusted();
  cloud.isBroken = true;
  const alarms = () =>
    store.read((db) => db.all<{ title: string }>(`SELECT title FROM events WHERE title LIKE 'The certificate of%'`));
  clock.advance(200 * DAY_MS);
  await services.renewals.renewDue();
  assert.deepEqual(alarms(), []);
  clock.advance(120 * DAY_MS);
  await services.renewals.renewDue();
  await services.renewals.renewDue();
  assert.equal(trusted(), before);
  assert.equal(alarms().length, 1);
  assert.match(alarms()[0]?.title ?? '', /cloud gone ends in 44 days and could not be renewed; .*join-code/);
});
