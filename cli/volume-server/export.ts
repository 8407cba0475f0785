import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { FileReservationStore, IscsiServer } from '@granary/protocols/iscsi';
import { allocate, release, type BlockDevice } from '@granary/storage';
import type { ChapSecret } from './chap-secret.ts';

export interface Export {
  readonly volume: BlockDevice;
  readonly folder: string;
  readonly host: string;
  readonly port: number;
  readonly iqn: string;
  readonly chap: ChapSecret | undefined;
  readonly initiators: readonly string[] | undefined;
}

/** Makes the volume LUN 0 of a target of its own. */
export async function exportVolume(wanted: Export): Promise<{ url: string; close(): Promise<void> }> {
  const authorise = (initiator: string) => {
    if (wanted.initiators && !wanted.initiators.includes(initiator)) return undefined;
    return wanted.chap ? { chap: wanted.chap } : {};
  };
  const server = new IscsiServer({
    reservations: new FileReservationStore(join(wanted.folder, 'reservations')),
    buffers: { allocate, release },
    authoriseDiscovery: authorise,
  });
  const target = server.addTarget({ iqn: wanted.iqn, authorise });
  // The same folder is the same disk to an initiator, whichever process serves it.
  const identity = createHash('sha256').update(`${wanted.iqn} ${wanted.folder}`).digest('hex');
  target.setLun(0, {
    device: wanted.volume,
    serial: identity.slice(0, 16),
    naa: `6${identity.slice(0, 31)}`,
  });
  const { host, port } = await server.listen(wanted);
  return { url: `iscsi://${host}:${port}/${wanted.iqn}/0`, close: () => server.close() };
}
