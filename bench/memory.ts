import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PortalClient } from '@granary/client';
import { until } from '../testing/waiting.ts';
import { startGranary } from '../e2e/granary.ts';
import type { Ratio } from './ratio.ts';

const IDLE_MS = 15_000;
const IDLE_MB_MAX = 120;

/** Resident memory of an idle array process, as the kernel counts it. */
export async function benchMemory(): Promise<Ratio[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'granary-bench-'));
  // The arrays of the first start fill the compile cache, as on any machine where Granary has run before.
  let granary = await startGranary(dataDir);
  try {
    await orderArrays(await granary.admin());
    await granary.stop();
    granary = await startGranary(dataDir);
    await arraysRun(await granary.admin());
    await sleep(IDLE_MS);
    const { data } = await granary.cloud().hostedArrays.list();
    return data.map(({ internal_name: name, pid }, index) => {
      const value = residentMb(pid ?? 0);
      return {
        what: `MB an idle ${index === 0 ? 'block and file' : 'object storage'} array takes (${name})`,
        value,
        wanted: `under ${IDLE_MB_MAX}`,
        met: value < IDLE_MB_MAX,
      };
    });
  } finally {
    await granary.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function orderArrays(client: PortalClient): Promise<void> {
  const { key } = (await client.clouds.list()).data[0]?.engine_types[0] ?? { key: '' };
  const order = { moderate: false, provider: 'local', drives: { SSD_10GB: 2 } };
  await client.arrays.create({ ...order, name: 'idle', engine: key });
  await client.arrays.create({ ...order, name: 'idle objects', kind: 'object_storage' });
  await arraysRun(client);
}

async function arraysRun(client: PortalClient): Promise<void> {
  await until(
    async () => (await client.arrays.list()).data.every(({ status }) => status === 'created'),
    'the arrays run',
  );
}

function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}
