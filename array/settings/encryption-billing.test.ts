import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import type { EncryptionChange } from '@granary/kernel';
import { testHost } from '../../kernel/process/testing/configuration.ts';
import { until } from '../../testing/waiting.ts';
import { testArray } from '../testing/test-array.ts';

const { settings, volumes } = arrayApi.groups;

/** Goal: the cloud hears from when to when an array has encrypted volumes, with the times, and nothing else counts. */
test('an array reports when its first encrypted volume came and its last one went', async (t) => {
  const reports: (readonly EncryptionChange[])[] = [];
  const host = {
    ...testHost,
    reportEncryption: (changes: readonly EncryptionChange[]) => {
      reports.push(changes);
      return Promise.resolve();
    },
  };
  const array = await testArray(t, { host });
  const pool = await array.pool();
  await array.client.call(settings.setEncryptionPassword, { encryption_pwd: 'open sesame' });
  await array.volume(pool);
  const before = Date.now();
  const first = await array.volume(pool, { crypt: 'YES' });
  const made = Date.now();
  const second = await array.volume(pool, { crypt: 'YES' });
  const remove = async (id: string) =>
    array.client.call(volumes.delete, { id, force: true, skip_recycle_bin: true } as never);
  const [on] = await until(() => reports.at(-1));
  assert.equal(on?.active, true);
  assert.ok(on.at >= before && on.at <= made, 'at the moment the volume was made');
  await remove(first);
  const removing = Date.now();
  await remove(second);
  const off = await until(() => reports.at(-1)?.[1]);
  assert.equal(off.active, false);
  assert.ok(off.at >= removing && off.at <= Date.now());
  assert.deepEqual(
    reports.at(-1)?.map(({ active }) => active),
    [true, false],
  );
});
