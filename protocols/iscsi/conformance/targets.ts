import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allocate, FileDrive, Pool, RaidGroup, release } from '@granary/storage';
import { IscsiServer, MemoryReservationStore, type UnitOptions } from '../index.ts';
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
const DRIVE_BOOKS_BYTES = 64 * 1024 * 1024;
const TARGET_NAME = 'iqn.2026-01.com.granary.test:conformance';

/** Our own target over memory. */
export function startOurs(): Promise<RunningTarget> {
  return serve({ device: new RamDevice(UNIT_BYTES) }, () => Promise.resolve());
}

/** Our own target over a volume, on a pool of two mirrored drives in files. */
export async function startVolume(options: Partial<UnitOptions> = {}): Promise<RunningTarget> {
  const folder = mkdtempSync(join(tmpdir(), 'granary-conformance-'));
  const opening = ['one', 'two'].map((id) => {
    return FileDrive.open({ id, path: join(folder, id), sizeBytes: UNIT_BYTES + DRIVE_BOOKS_BYTES });
  });
  const group = await RaidGroup.create({ id: 'group', level: 'RAID1', members: await Promise.all(opening) });
  const pool = await Pool.create({ file: join(folder, 'pool.db'), id: 'pool', mode: 'simple', groups: [group] });
  const device = await pool.volumes.create({ id: 'volume', sizeBytes: UNIT_BYTES });
  return serve({ ...options, device }, async () => {
    await pool.close();
    await group.close();
    rmSync(folder, { recursive: true });
  });
}

async function serve(
  options: Partial<UnitOptions> & Pick<UnitOptions, 'device'>,
  after: () => Promise<void>,
): Promise<RunningTarget> {
  const reservations = new MemoryReservationStore();
  const server = new IscsiServer({ reservations, buffers: { allocate, release } });
  const target = server.addTarget({ iqn: TARGET_NAME, authorise: () => ({}) });
  target.setLun(0, { serial: 'conformance-0', naa: '3000000000000001', ...options });
  const { host, port } = await server.listen({ host: '127.0.0.1', port: 0 });
  const url = `iscsi://${host}:${port}/${TARGET_NAME}/0`;
  const stop = async (): Promise<void> => {
    await server.close();
    await after();
  };
  return { host, port, targetName: TARGET_NAME, lun: 0, url, stop };
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
