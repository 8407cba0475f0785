import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BlockDevice } from '../../../storage/block-device.ts';
import { IscsiServer, MemoryReservationStore } from '../index.ts';
import { RamDevice } from '../testing/ram-device.ts';
import { Tgtd } from '../testing/tgtd.ts';

export interface RunningTarget {
  readonly host: string;
  readonly port: number;
  readonly targetName: string;
  readonly lun: number;
  /** The same as libiscsi and qemu write it. */
  readonly url: string;
  stop(): Promise<void>;
}

export const UNIT_BYTES = 256 * 1024 * 1024;
const TARGET_NAME = 'iqn.2026-01.com.granary.test:conformance';

/** Our own target over a device, or over memory. */
export async function startOurs(device: BlockDevice = new RamDevice(UNIT_BYTES)): Promise<RunningTarget> {
  const server = new IscsiServer({ host: '127.0.0.1', port: 0, reservations: new MemoryReservationStore() });
  const target = server.addTarget({ iqn: TARGET_NAME, authorise: () => ({}) });
  target.setLun(0, { device, serial: 'conformance-0', naa: '3000000000000001' });
  const { host, port } = await server.listen();
  const url = `iscsi://${host}:${port}/${TARGET_NAME}/0`;
  return { host, port, targetName: TARGET_NAME, lun: 0, url, stop: () => server.close() };
}

/** tgtd over a sparse file, at its best: thin provisioning lets more tests run. */
export async function startTheirs(): Promise<RunningTarget> {
  const folder = mkdtempSync(join(tmpdir(), 'granary-conformance-'));
  const file = join(folder, 'unit');
  writeFileSync(file, '');
  truncateSync(file, UNIT_BYTES);
  const tgtd = await Tgtd.start({ file, thinProvisioning: true });
  const { host, port, targetName, lun, url } = tgtd;
  const stop = async () => {
    await tgtd.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { host, port, targetName, lun, url, stop };
}
