import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PortalClient } from '@granary/client';
import { readBill, type CsvRow } from '../portal/billing/testing/read-bill.ts';
import { temporaryFolder } from '../testing/folders.ts';
import { until } from '../testing/waiting.ts';
import { makePool, orderArray, signInTo } from './block-array.ts';
import { startGranary, type Granary } from './granary.ts';

/**
 * Goal: an array's encryption is on the bill from its first encrypted volume to its last, to the second, and whatever is
 * killed in between changes nothing of that.
 * Method: real processes; the array is killed just after each change, before the portal can have heard of it, and in the end
 * everything.
 */
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

async function encryptionOn(admin: PortalClient): Promise<CsvRow[]> {
  const text = (time: number) => new Date(time).toISOString().slice(0, 16).replace('T', ' ');
  const { bytes } = await admin.billing.download({
    start_datetime: text(Date.now() - 60 * MINUTE_MS),
    end_datetime: text(Date.now() + 2 * MINUTE_MS),
  });
  return readBill(bytes).items.filter(({ item }) => item?.startsWith('encryption') === true);
}

/** Just after a start the record may be older than the array's process. */
const reached = (admin: PortalClient) =>
  until(() => signInTo(admin, 'vault').catch(() => undefined), 'the array answers');

const timeOf = (row: CsvRow | undefined, name: 'from' | 'to') =>
  Date.parse((row?.[name] ?? '').replace(' ', 'T').replace(' UTC', 'Z'));

async function killArray(granary: Granary): Promise<void> {
  const { pid } = (await granary.cloud().hostedArrays.list()).data[0] ?? {};
  process.kill(pid as number, 'SIGKILL');
}

test('encryption is billed exactly, through kill -9 of everything', async (t) => {
  const dataDir = temporaryFolder(t);
  let granary = await startGranary(dataDir);
  t.after(() => granary.kill());
  let admin = await granary.admin();
  const array = await orderArray(admin, 'vault', { SSD_10GB: 2 });
  const { pool } = await makePool(array.client, 'main');
  await array.client.settings.setEncryptionPassword({ encryption_pwd: 'open sesame' });
  await array.client.volumes.create({ name: 'open', pool, capacity: 1 });
  assert.deepEqual(await encryptionOn(admin), []);
  const began = Date.now();
  const made = await array.client.volumes.create({ name: 'secret', pool, capacity: 1, crypt: true });
  const beganLatest = Date.now();
  await killArray(granary);
  const again = await reached(admin);
  await until(async () => (await encryptionOn(admin)).length > 0, 'encryption is on the bill');
  const ending = Date.now();
  // Waits for the job: until then it is only hidden.
  await again.client.volumes.delete({ id: made.vol_name, force: true, timeout: -1 });
  const gone = Date.now();
  await killArray(granary);
  await reached(admin);
  // What still runs is billed up to now, which moves on.
  const closed = await until(async () => {
    const rows = await encryptionOn(admin);
    return timeOf(rows.at(-1), 'to') <= gone + SECOND_MS && rows;
  }, 'encryption is no longer on the bill');
  assert.ok(closed.every(({ item }) => item === 'encryption:engine_small'));
  const [from, to] = [timeOf(closed[0], 'from'), timeOf(closed.at(-1), 'to')];
  // The portal learns how long ago it was, so the times are as exact as an answer of the cloud is quick.
  assert.ok(from >= began - SECOND_MS && from <= beganLatest + SECOND_MS, `from ${from}, not ${began}`);
  assert.ok(to >= ending - SECOND_MS && to <= gone + SECOND_MS, `to ${to}, not ${gone}`);
  await granary.kill();
  granary = await startGranary(dataDir);
  admin = await granary.admin();
  await reached(admin);
  assert.deepEqual(await encryptionOn(admin), closed);
  assert.equal(await granary.stop(), 0);
});
