import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FileDrive, Pool, RaidGroup } from '@granary/storage';
import { Filesystem } from '@granary/storage/filesystem';

const GIB = 1024 ** 3;
const VOLUME_BYTES = 8 * GIB;

/** A filesystem on a volume of a pool on RAID1, in a folder; what is there already is opened. */
export async function openFilesystem(folder: string): Promise<{ filesystem: Filesystem; close: () => Promise<void> }> {
  const isNew = !existsSync(join(folder, 'pool.db'));
  const drives = await Promise.all(
    ['a', 'b'].map((id) => FileDrive.open({ id, path: join(folder, id), sizeBytes: VOLUME_BYTES + GIB })),
  );
  const group = isNew
    ? await RaidGroup.create({ id: 'group', level: 'RAID1', members: drives })
    : await RaidGroup.open({ drives });
  const options = { file: join(folder, 'pool.db'), groups: [group] };
  const pool = isNew ? await Pool.create({ ...options, id: 'pool', mode: 'simple' }) : Pool.open(options);
  const volume = isNew
    ? await pool.volumes.create({ id: 'volume', sizeBytes: VOLUME_BYTES })
    : pool.volumes.get('volume');
  if (isNew) await Filesystem.format(volume, { mode: 0o777 });
  const filesystem = await Filesystem.mount(volume);
  const close = async (): Promise<void> => {
    await filesystem.unmount();
    await pool.close();
    await group.close();
  };
  return { filesystem, close };
}
