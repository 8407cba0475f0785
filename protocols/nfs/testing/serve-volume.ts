import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { checkFilesystem, Filesystem } from '@granary/storage/filesystem';
import { Random } from '../../../testing/random.ts';
import { MemoryDevice } from '../../../storage/filesystem/testing/memory-device.ts';
import { VolumeFilesystem } from '../volume/volume-filesystem.ts';
import { serve, type ServeOptions, type Served } from './serve.ts';

const MIB = 1024 * 1024;

export interface ServedVolume extends Served<VolumeFilesystem> {
  readonly inner: Filesystem;
}

/** As `serve`, with a filesystem on a volume in memory. At the end it must be without a flaw, and the server, too. */
export async function serveVolume(
  context: TestContext,
  sizeBytes = 128 * MIB,
  options: ServeOptions<VolumeFilesystem> = {},
): Promise<ServedVolume> {
  const random = new Random(7);
  const device = new MemoryDevice(sizeBytes, { random: () => random.below(1000) / 1000 });
  await Filesystem.format(device, { mode: 0o777 });
  const inner = await Filesystem.mount(device);
  const filesystem = await VolumeFilesystem.of(inner);
  const served = await serve(context, { filesystem, access: { sync: false }, ...options });
  context.after(async () => {
    await inner.unmount();
    assert.deepEqual(
      served.events.filter(({ type }) => type === 'internal-error'),
      [],
    );
    assert.deepEqual((await checkFilesystem(device)).findings, []);
  });
  return { ...served, inner };
}
