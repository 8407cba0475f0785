import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { randomFrom } from '../../testing/random.ts';
import { checkFilesystem } from './check/check.ts';
import { Filesystem } from './filesystem.ts';
import { describeFilesystem, describeModel } from './testing/described.ts';
import { MemoryDevice } from './testing/memory-device.ts';
import { FilesystemModel } from './testing/filesystem-model.ts';
import { operationOf, perform, type Step } from './testing/operations.ts';

const TORTURE = process.env.GRANARY_TORTURE === '1';
const MIB = 1024 * 1024;

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.nat({ max: 1_000_000 }),
  which: fc.nat({ max: 1_000_000 }),
  other: fc.nat({ max: 1_000_000 }),
  at: fc.nat({ max: 1_000_000 }),
  size: fc.nat({ max: 1_000_000 }),
});

/** Does each step in the filesystem and in the model; now and then mounts it anew, or a copy of the device as it is. */
async function tell(steps: readonly Step[]): Promise<void> {
  const device = new MemoryDevice(16 * MIB, { random: randomFrom(steps.length) });
  await Filesystem.format(device, { mode: 0o750, journalBytes: 512 * 1024 });
  let filesystem = await Filesystem.mount(device, { cacheBytes: 512 * 1024 });
  const model = new FilesystemModel();
  for (const each of steps) {
    const operation = operationOf(each, model);
    const expected = model.apply(operation);
    assert.equal(await perform(filesystem, operation), expected, JSON.stringify(operation));
    if (each.kind % 97 === 0) {
      await filesystem.unmount();
      filesystem = await Filesystem.mount(device, { cacheBytes: 512 * 1024 });
    }
    if (each.kind % 83 === 0) await verifyCopy(filesystem, device, model);
  }
  assert.deepEqual(await describeFilesystem(filesystem), describeModel(model));
  await filesystem.unmount();
  const { findings } = await checkFilesystem(device);
  assert.deepEqual(findings, []);
}

/** A snapshot of the volume, taken while the filesystem is in use, mounts and shows the same. */
async function verifyCopy(filesystem: Filesystem, device: MemoryDevice, model: FilesystemModel): Promise<void> {
  await filesystem.commit();
  const snapshot = new MemoryDevice(Buffer.from(device.bytes), { readOnly: true });
  const { findings } = await checkFilesystem(snapshot);
  assert.deepEqual(findings, []);
  assert.deepEqual(await describeFilesystem(await Filesystem.mount(snapshot)), describeModel(model));
}

test('random operations do what they do in a model, also over mounts and in snapshots', async () => {
  const stories = fc.array(step, { minLength: 20, maxLength: TORTURE ? 400 : 250, size: 'max' });
  await fc.assert(fc.asyncProperty(stories, tell), { numRuns: TORTURE ? 200 : 4, endOnFailure: !TORTURE });
});
