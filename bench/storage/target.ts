import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunningServer } from '../../cli/volume-server/testing/running-server.ts';
import { atLeast, type Ratio } from '../ratio.ts';
import { benchIscsi } from './iscsi-load.ts';
import { startTgtd } from './tgtd.ts';

const MIB = 1024 * 1024;
const SPAN_BYTES = 512 * MIB;

/** A write reaches both mirrors, where tgtd writes to one file. */
const GOALS: Readonly<Record<string, number>> = {
  '4 KiB random read, depth 1': 0.6,
  '4 KiB random read, depth 32': 1,
  '4 KiB random write, depth 1': 0.6,
  '4 KiB random write, depth 32': 0.7,
  '1 MiB sequential read, depth 4': 1,
  '1 MiB sequential write, depth 4': 0.7,
};

/** `granary volume-server` on RAID1 beside tgtd on a plain sparse file, with the same client. */
export async function benchTarget(): Promise<Ratio[]> {
  const folder = mkdtempSync(join(tmpdir(), 'granary-bench-volume-'));
  const ours = await RunningServer.start(folder, '--size', '1G');
  const theirs = await startTgtd(1024 * MIB);
  try {
    const { host, port, targetName } = ours;
    const endpoints = [{ name: 'granary', login: { host, port, targetName }, lun: 0 }, theirs];
    const rows = await benchIscsi({ endpoints, spanBytes: SPAN_BYTES });
    return rows.map(({ workload, ratio, results, unit }) => {
      const figures = Object.entries(results).map(([name, value]) => `${name} ${value.toFixed(0)}`);
      return atLeast(`of tgtd: ${workload} [${figures.join(', ')} ${unit}]`, ratio, GOALS[workload] ?? 0);
    });
  } finally {
    await theirs.stop();
    await ours.stop();
    rmSync(folder, { recursive: true });
  }
}
