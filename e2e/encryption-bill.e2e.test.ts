import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PortalClient } from '@granary/client';
import { readBill, type CsvRow } from '../portal/billing/testing/read-bill.ts';
import { temporaryFolder } from '../testing/folders.ts';
import { until } from '../testing/waiting.ts';
import { makePool, orderArray, signInTo } from './block-array.ts';
import { startGranary } from './granary.ts';

/**
 * Goal: an array's encryption is on the bill from its first encrypted volume to its last, to the second, and whatever is
 * killed in between changes nothing of that.
 * Method: real processes; everything is killed just after the change, before anyone can have heard of it.
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

const hours = (rows: readonly CsvRow[]) => rows.reduce((sum, row) => sum + Number(row['hours']), 0);

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
  await granary.kill();
  granary = await startGranary(dataDir);
  admin = await granary.admin();
  const again = await signInTo(admin, 'vault');
  await until(async () => (await encryptionOn(admin)).length > 0, 'encryption is on the bill');
  await again.client.volumes.delete({ id: made.vol_name, force: true });
  const ended = Date.now();
  await granary.kill();
  granary = await startGranary(dataDir);
  admin = await granary.admin();
  await signInTo(admin, 'vault');
  const closed = await until(async () => {
    const before = hours(await encryptionOn(admin));
    await new Promise((resolve) => setTimeout(resolve, 2 * SECOND_MS));
    return before === hours(await encryptionOn(admin)) && encryptionOn(admin);
  }, 'encryption is no longer on the bill');
  assert.ok(closed.every(({ item }) => item === 'encryption:engine_small'));
  const billedMs = hours(closed) * 60 * MINUTE_MS;
  // Less the time in which the array was down after the first kill.
  assert.ok(billedMs <= ended - began + SECOND_MS, `${billedMs} of ${ended - beganLatest} ms`);
  assert.ok(billedMs > 0);
  assert.equal(await granary.stop(), 0);
});
