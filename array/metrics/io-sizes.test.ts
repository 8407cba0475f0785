import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { until } from '../../testing/waiting.ts';
import { testArray } from '../testing/test-array.ts';
import { testDisk } from '../testing/test-disk.ts';

const { volumes } = arrayApi.groups;

test('reads and writes are counted by size where that is wanted, also after a restart', async (t) => {
  const array = await testArray(t);
  const volume = await array.volume(await array.pool());
  await array.client.call(volumes.update, { id: volume, mtr_histograms: true });
  await array.restart();
  const disk = await testDisk(t, array, volume);
  await disk.lun.write(0, Buffer.alloc(4096, 1));
  await disk.lun.write(0, Buffer.alloc(4096, 2));
  await disk.lun.write(0, Buffer.alloc(20_480, 3));
  const counted = async (le: number) => {
    const text = await (await fetch(`${array.configuration.managementUrl}/metrics`)).text();
    const line = text
      .split('\n')
      .find(
        (each) =>
          each.startsWith('granary_volume_io_size_bytes_bucket') && each.includes(`direction="write",le="${le}"`),
      );
    return Number(line?.split(' ').at(-1) ?? 0);
  };
  await until(async () => (await counted(4096)) === 2, 'two small writes are counted');
  assert.equal(await counted(32_768), 3);
});
