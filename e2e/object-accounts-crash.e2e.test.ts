import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionError, objectsClient, type PortalClient } from '@granary/client';
import { temporaryFolder } from '../testing/folders.ts';
import { until } from '../testing/waiting.ts';
import { Random } from '../testing/random.ts';
import { startGranary } from './granary.ts';
import { orderObjects } from './object-account.ts';

const rounds = process.env['GRANARY_TORTURE'] === '1' ? 30 : 3;
const seed = Number(process.env['GRANARY_SEED'] ?? Date.now() % 1_000_000);
const PASSWORD = 'correct horse battery';

test('portal and array agree about accounts wherever a kill -9 falls', async (t) => {
  t.diagnostic(`GRANARY_SEED=${seed}`);
  const random = new Random(seed);
  const dataDir = join(temporaryFolder(t), 'data');
  let granary = await startGranary(dataDir);
  t.after(() => granary.kill());
  let admin = await granary.admin();
  await orderObjects(admin, 'store', 2);
  const arrayId = (await admin.arrays.list({ name: 'store' })).data[0]?.id ?? 0;

  for (let round = 1; round <= rounds; round += 1) {
    const known = (await admin.objectAccounts.list({ array_id: arrayId })).data;
    const work = [open(admin, arrayId, `account-${round}-a`), open(admin, arrayId, `account-${round}-b`)];
    if (known[0]) work.push(remove(admin, arrayId, known[0]));
    // What the kill cuts off is not heard of.
    for (const each of work) each.catch(() => undefined);
    await sleep(random.below(700));
    await granary.kill();
    granary = await startGranary(dataDir);
    admin = await granary.admin();
    await agree(admin, arrayId);
  }
});

async function open(admin: PortalClient, arrayId: number, name: string): Promise<void> {
  await admin.objectAccounts.create({
    array_id: arrayId,
    object_storage_account_name: name,
    object_storage_admin_username: 'carol',
    object_storage_admin_password: PASSWORD,
    user_id: 1,
  });
}

async function remove(
  admin: PortalClient,
  arrayId: number,
  account: { id: number; account_name: string },
): Promise<void> {
  const { array_request_id: id } = await admin.objectAccounts.delete({ array_id: arrayId, account_id: account.id });
  await admin.arrayRequests.approve({ id, name: account.account_name });
}

/** Once the work that was cut off has gone on: the same accounts on both sides, each with its administrator. */
async function agree(admin: PortalClient, arrayId: number): Promise<void> {
  const accounts = await until(async () => {
    const { data: array } = await admin.arrays.get({ array_id: arrayId });
    const { data } = await admin.objectAccounts.list({ array_id: arrayId });
    return array.status === 'created' && data.every(({ status }) => status === 'created') && data;
  }, 'the work goes on');
  const { data: array } = await admin.arrays.get({ array_id: arrayId });
  const url = array.management_url ?? '';
  const guest = objectsClient({ url });
  const { user } = await until(
    () =>
      guest.users
        .authenticate({ account: 'objs_admin', user: 'admin', password: array.initial_passcode })
        .catch(unlessUnreachable),
    'the array is up again',
  );
  const { accounts: there } = await objectsClient({ url, accessKey: user.access_key ?? '' }).accounts.list();
  const alive = there.filter((one) => one.is_system_account === 'False' && one.state === 'normal');
  assert.deepEqual(alive.map(({ name }) => name).sort(), accounts.map((one) => one.account_name).sort());
  for (const { account_name: account } of accounts)
    await guest.users.authenticate({ account, user: 'carol', password: PASSWORD });
}

/** The portal answers while its arrays still start. */
function unlessUnreachable(error: unknown): undefined {
  if (!(error instanceof ConnectionError)) throw error;
}
