import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ManualClock, type HostedDrive } from '@granary/kernel';
import { temporaryFolder } from '../../testing/folders.ts';
import { until } from '../../testing/waiting.ts';
import type { Engine } from '../engine/engine.ts';
import { EngineError } from '../engine/errors.ts';
import type { PerformanceService } from '../performance/service.ts';
import { toolsAlone } from '../testing/tools-alone.ts';
import { ArrayDriveService } from './service.ts';
import { DriveShredding } from './shredding.ts';
import { viewOfDrive } from './view.ts';

const NOTHING = { drives: [], groups: [], pools: [], volumes: [], sessions: [], servers: [], controllers: [] };
const performance = { remove: () => undefined } as unknown as PerformanceService;

/** A drive whose overwriting fails while the test says so. */
async function setUp(t: TestContext) {
  const state = { isBroken: true, shredded: 0 };
  const shredDrive = () => {
    if (state.isBroken) return Promise.reject(new EngineError('conflict', 'The drive does not take writes.'));
    state.shredded += 1;
    return Promise.resolve();
  };
  const report = () => Promise.resolve({ ...NOTHING, version: 1 });
  const engine = { hardware: { shredDrive }, report } as unknown as Engine;
  const tools = toolsAlone({ folder: temporaryFolder(t), engine, clock: new ManualClock('2026-03-01T12:00:00Z') });
  const drives = new ArrayDriveService(tools, performance);
  const shredding = new DriveShredding(tools, drives);
  await drives.follow([{ uuid: 'drive-1', number: 1, medium: 'ssd', capacityGb: 1 } as HostedDrive]);
  await tools.jobs.start();
  t.after(async () => {
    await tools.jobs.stop();
    tools.store.close();
  });
  const id = drives.list({ start: 0, limit: 0 }).drives[0]!.record.name;
  const status = () => viewOfDrive(drives.get(id)).status;
  const shred = async (force: boolean) => {
    await shredding.start({ id, force }, 'dana');
    await until(() => drives.get(id).record.shredJob === null, 'the end');
  };
  return { state, id, status, shred };
}

test('a drive that failed is shredded only by force, and is available again when that works', async (t) => {
  const { state, id, status, shred } = await setUp(t);
  await shred(false);
  assert.equal(status(), 'Failed', 'it could not be overwritten');
  state.isBroken = false;
  const reason = new RegExp(`^Drive ssd-1 \\(${id}\\) has failed; put it back into service first, or use force=YES`);
  await assert.rejects(shred(false), { message: reason });
  assert.deepEqual([status(), state.shredded], ['Failed', 0]);
  await shred(true);
  assert.deepEqual([status(), state.shredded], ['Available', 1]);
});
