import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createLog } from '@granary/kernel';
import { temporaryFolder } from '../../testing/folders.ts';
import { testConfiguration } from '../../kernel/process/testing/configuration.ts';
import { placeDrives } from '../testing/drives.ts';
import { partOf } from './parts.ts';
import { ENGINES, startEngine } from './start.ts';
import type { RunningEngine } from './running-engine.ts';
import { type EngineUnderTest, testEngine } from './testing/engine-suite.ts';
import { startMemoryEngine } from './testing/memory/start.ts';

const DRIVES = 4;
const engines = { ...ENGINES, memory: { load: () => Promise.resolve(startMemoryEngine) } };

async function start(t: TestContext, storageEngine: string): Promise<{ running: RunningEngine; drives: string[] }> {
  const root = temporaryFolder(t);
  const folder = join(root, 'array');
  mkdirSync(folder);
  const numbers = Array.from({ length: DRIVES }, (_, index) => index + 1);
  const drives = placeDrives(join(root, 'drives'), numbers, 1);
  const configuration = testConfiguration(folder, { drives, storageEngine });
  const log = createLog('array', 'silent');
  const running = await startEngine({ configuration, log, onEvent: () => undefined }, engines);
  t.after(() => running.stop());
  return { running, drives: drives.map(({ uuid }) => uuid) };
}

async function embedded(t: TestContext): Promise<EngineUnderTest> {
  const { running, drives } = await start(t, 'embedded');
  const { engine } = running;
  const groups = new Map<string, readonly string[]>();
  const makePool = async (id: string, capacityBytes: number): Promise<void> => {
    const members = groups.get(id) ?? drives.splice(0, 2);
    groups.set(id, members);
    const speed = { minimum: 2 ** 20, maximum: 2 ** 30 };
    const group = { id: `group-of-${id}`, protection: 'RAID1', drives: members, spares: [] } as const;
    await partOf(engine, 'hardware').createGroup({ ...group, stripeBytes: 65_536, speed });
    await engine.createPool({ id, mode: 'simple', groups: [group.id], capacityBytes });
  };
  return { engine, makePool };
}

async function memory(t: TestContext): Promise<EngineUnderTest> {
  const { engine } = (await start(t, 'memory')).running;
  const makePool = (id: string, capacityBytes: number) =>
    engine.createPool({ id, mode: 'simple', groups: [], capacityBytes });
  return { engine, makePool };
}

testEngine('embedded', embedded);
testEngine('memory', memory);

test('what an engine lacks is refused in words, from one place', async (t) => {
  const { engine } = (await start(t, 'memory')).running;
  assert.throws(() => partOf(engine, 'hardware'), {
    message: 'The memory engine of this array has no drives and RAID groups: the engine looks after them by itself.',
  });
});

test('an engine that there is not is named with those there are', async (t) => {
  await assert.rejects(start(t, 'tape'), /names the storage engine tape; there is embedded, memory/);
});
