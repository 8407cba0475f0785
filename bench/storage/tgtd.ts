import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { skipWithout, Tgtd } from '@granary/protocols/iscsi/testing';
import type { IscsiEndpoint } from './iscsi-load.ts';

/** As fast as tgtd goes: large segments, and data sent without being asked for. */
const KEYS = {
  MaxRecvDataSegmentLength: '262144',
  MaxXmitDataSegmentLength: '262144',
  FirstBurstLength: '262144',
  MaxBurstLength: '1048576',
  InitialR2T: 'No',
  ImmediateData: 'Yes',
};

export interface TgtdEndpoint extends IscsiEndpoint {
  stop(): Promise<void>;
}

/** Debian's tgtd over a sparse file; `folder` should be on the drive that what it is compared with uses. */
export async function startTgtd(sizeBytes: number, { name = 'tgtd', folder = tmpdir() } = {}): Promise<TgtdEndpoint> {
  const missing = await skipWithout('tgt');
  if (missing !== false) throw new Error(`${missing}: apt-get install tgt`);
  const own = mkdtempSync(join(folder, 'granary-bench-tgtd-'));
  const file = join(own, 'unit');
  writeFileSync(file, '');
  truncateSync(file, sizeBytes);
  const tgtd = await Tgtd.start({ file, keys: KEYS });
  const { host, port, targetName, lun } = tgtd;
  return {
    name,
    lun,
    login: { host, port, targetName, toleratesLongBursts: true },
    stop: async () => {
      await tgtd.stop();
      rmSync(own, { recursive: true, force: true });
    },
  };
}
