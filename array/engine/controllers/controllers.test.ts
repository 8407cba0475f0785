import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createLog } from '@granary/kernel';
import { temporaryFolder } from '../../../testing/folders.ts';
import { testConfiguration } from '../../../kernel/process/testing/configuration.ts';
import { startEmbeddedEngine } from '../embedded/start.ts';
import { EngineError } from '../errors.ts';
import type { EngineEvent } from '../events.ts';
import { partOf } from '../parts.ts';
import { CRASH } from './testing/break-at-will.ts';
import { REFUSAL } from './testing/fake-engine.ts';
import { insist } from './testing/served-volume.ts';

const engineModule = new URL('./testing/fake-engine.ts', import.meta.url).href;

async function setUp(t: TestContext, changes: Parameters<typeof testConfiguration>[1] = {}) {
  const configuration = testConfiguration(temporaryFolder(t), changes);
  const events: EngineEvent[] = [];
  const log = createLog('array', 'silent');
  const running = await startEmbeddedEngine(
    { configuration, log, onEvent: (event) => events.push(event) },
    { engineModule },
  );
  t.after(() => running.stop());
  return { engine: running.engine, events, refusal: join(configuration.folder, REFUSAL) };
}

test('what an engine refuses is refused in the same words; a fault stays a fault', async (t) => {
  const { engine } = await setUp(t);
  await assert.rejects(engine.volume('missing'), (error) => {
    assert.ok(error instanceof EngineError);
    assert.deepEqual(
      [error.code, error.message, error.entry],
      ['not-found', 'There is no volume missing.', 'state_conflict'],
    );
    return true;
  });
  await assert.rejects(engine.volume('other'), (error) => {
    assert.ok(error instanceof Error && !(error instanceof EngineError));
    assert.match(error.message, /a fault of ours/);
    return true;
  });
});

test('bytes arrive as they were, wherever they lay', async (t) => {
  const { engine } = await setUp(t);
  for (let turn = 0; turn < 2; turn++) {
    for (const [name, length, value] of [
      ['whole', 2 ** 20, 1],
      ['part', 512, 2],
      ['wasm', 65_536, 3],
    ] as const) {
      const bytes = await engine.readSnapshot(name, 0, length);
      assert.ok(bytes.length === length && bytes.every((byte) => byte === value), name);
    }
  }
});

test('the heap of a controller has the limit of its engine', async (t) => {
  const { engine } = await setUp(t, { limits: { controllerHeapMb: 400 } });
  const heapMb = Number(Buffer.from(await engine.readSnapshot('heap', 0, 0)).toString()) / 2 ** 20;
  assert.ok(heapMb >= 400 && heapMb < 550, `${heapMb} MB`);
});

test('long work tells how far it is, and ends when its caller cancels it', async (t) => {
  const { engine } = await setUp(t);
  const cancelling = new AbortController();
  const seen: number[] = [];
  const onProgress = (fraction: number) => {
    if (seen.push(fraction) === 3) cancelling.abort();
  };
  await assert.rejects(
    partOf(engine, 'hardware').scrubGroup('RaidGroup-1', 0.25, { signal: cancelling.signal, onProgress }),
    {
      code: 'cancelled',
    },
  );
  assert.equal(seen[0], 0.25);
  assert.deepEqual(
    seen,
    seen.toSorted((one, other) => one - other),
  );
  const already = AbortSignal.abort();
  await assert.rejects(partOf(engine, 'hardware').scrubGroup('RaidGroup-1', 0, { signal: already }), {
    code: 'cancelled',
  });
});

test('a failover ends long work as interrupted, lets short calls finish and has later ones wait', async (t) => {
  const { engine, events } = await setUp(t);
  const long = assert.rejects(partOf(engine, 'hardware').scrubGroup('RaidGroup-1', 0, {}), { code: 'interrupted' });
  const short = partOf(engine, 'hardware').setResyncSpeed('RaidGroup-1', { minimum: 1, maximum: 2 });
  const failover = partOf(engine, 'controllers').failover();
  await long;
  const later = engine.report(0);
  await Promise.all([short, failover]);
  const { drives, controllers } = await later;
  assert.equal(drives[0]?.id, 'vsa-00000001-vc-1 0');
  assert.deepEqual(
    controllers.map(({ name, state }) => [name, state]),
    [
      ['vsa-00000001-vc-0', 'standby'],
      ['vsa-00000001-vc-1', 'active'],
    ],
  );
  assert.deepEqual(
    events.map((event) => event.type === 'controller-active' && event.controller),
    ['vsa-00000001-vc-0', 'vsa-00000001-vc-1'],
  );
});

test('a version of one controller means nothing to the other', async (t) => {
  const { engine } = await setUp(t);
  const first = await engine.report(0);
  const second = await engine.report(first.version);
  assert.equal(second.drives[0]?.id, 'vsa-00000001-vc-0 1');
  await partOf(engine, 'controllers').failover();
  const third = await engine.report(second.version);
  assert.equal(third.drives[0]?.id, 'vsa-00000001-vc-1 0');
  assert.equal((await engine.report(third.version)).drives[0]?.id, 'vsa-00000001-vc-1 1');
});

test('calls under way when their controller dies are asked of the next one; long ones end as interrupted', async (t) => {
  const { engine, events } = await setUp(t);
  const long = assert.rejects(partOf(engine, 'hardware').scrubGroup('RaidGroup-1', 0, {}), { code: 'interrupted' });
  const short = partOf(engine, 'hardware').setResyncSpeed('RaidGroup-1', { minimum: 1, maximum: 2 });
  await assert.rejects(engine.pauseMove(CRASH), { code: 'interrupted' });
  await Promise.all([long, short]);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['controller-active', 'controller-failed', 'controller-active'],
  );
  assert.match(JSON.stringify(events[1]), /crashed as ordered/);
  const { controllers } = await engine.report(0);
  assert.deepEqual(
    controllers.map(({ failedAt }) => failedAt !== null),
    [true, false],
  );
});

test('while neither controller can open, both are reported as failed and calls are refused; then one comes up', async (t) => {
  const { engine, refusal } = await setUp(t);
  const before = await engine.report(0);
  writeFileSync(refusal, '');
  await assert.rejects(engine.pauseMove(CRASH), { code: 'interrupted' });
  await assert.rejects(engine.readSnapshot('part', 0, 512), { code: 'failed', message: /The drives cannot be read/ });
  const { controllers, drives } = await engine.report(before.version);
  assert.deepEqual(
    controllers.map(({ state }) => state),
    ['failed', 'failed'],
  );
  assert.deepEqual(drives, before.drives, 'what was last known is shown still');
  await assert.rejects(partOf(engine, 'controllers').failover(), { code: 'conflict' });
  rmSync(refusal);
  assert.equal((await insist(() => engine.readSnapshot('part', 0, 512), 60_000)).length, 512);
});

test('an engine that no controller can open does not start', async (t) => {
  const configuration = testConfiguration(temporaryFolder(t));
  writeFileSync(join(configuration.folder, REFUSAL), '');
  const log = createLog('array', 'silent');
  const starting = startEmbeddedEngine({ configuration, log, onEvent: () => undefined }, { engineModule });
  await assert.rejects(starting, { code: 'failed' });
});
