import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { bytes } from '@granary/kernel';
import type { IoTotals } from '../engine/report.ts';
import { GB, MB } from '../units.ts';
import { volumesAlone, wantedVolume } from './testing/volumes-alone.ts';
import { VolumeWatch } from './watch.ts';

async function setUp(t: TestContext, changes = {}) {
  const { engine, clock, array } = await volumesAlone(t);
  const { volumes, readings } = array;
  const { name } = await volumes.create(wantedVolume('data', changes), 'dana');
  const watch = new VolumeWatch(array, (each, size) => volumes.expandTo(each, size, 'system'));
  return {
    name,
    engine,
    volumes,
    /** Time passes, figures change, a reading is published. */
    look: async (seconds: number, report: Parameters<typeof engine.set>[1]) => {
      clock.advance(seconds * 1000);
      engine.set(name, report);
      await readings.refresh();
      await watch.check(clock.now());
    },
    news: () => array.titles(name).slice(1),
  };
}

function reads(count: number, microsecondsEach = 100): IoTotals {
  return {
    reads: { count, bytes: count * MB, microseconds: count * microsecondsEach },
    writes: { count: 0, bytes: 0, microseconds: 0 },
  };
}

test('an average above a limit over a minute is reported once, and once more when it is back', async (t) => {
  const { name, volumes, look, news } = await setUp(t);
  await volumes.setThresholds(name, { readIopsLimit: 100 }, 'dana');
  let count = 0;
  const run = async (looks: number, perLook: number) => {
    for (let each = 0; each < looks; each += 1) await look(5, { io: reads((count += perLook)) });
  };
  await run(14, 400);
  assert.equal(news().length, 1, 'eighty a second are within the limit');
  await run(14, 600);
  const [, reported, ...more] = news();
  assert.match(
    reported ?? '',
    /^Volume data \(volume-\w+\): 1\d\d(\.\d)? reads a second on average over the last minute, above its limit of 100\.$/,
  );
  assert.deepEqual(more, [], 'reported once');
  await run(14, 0);
  assert.match(news()[2] ?? '', /within its limit of 100 again/);
  assert.equal(news().length, 3);
});

test('a burst shorter than the average allows raises nothing', async (t) => {
  const { name, volumes, look, news } = await setUp(t);
  await volumes.setThresholds(name, { readIopsLimit: 100 }, 'dana');
  await look(5, { io: reads(0) });
  await look(5, { io: reads(4_000) });
  for (let each = 0; each < 14; each += 1) await look(5, { io: reads(4_000) });
  assert.equal(news().length, 1);
});

test('latency is that of the operations there were; counters that begin anew are no load', async (t) => {
  const { name, volumes, look, news } = await setUp(t);
  await volumes.setThresholds(name, { readLatencyLimit: 5 }, 'dana');
  for (let each = 1; each <= 14; each += 1) await look(5, { io: reads(each, 9_000) });
  assert.match(news()[1] ?? '', /9 milliseconds a read on average/);
  await look(5, { io: reads(1, 100) });
  assert.equal(news().length, 2);
});

test('a volume that fills up raises an alert by its rate, an emergency by what is left, and says when it has room', async (t) => {
  const { name, volumes, look, news } = await setUp(t);
  await volumes.protect(name, { historyMinutes: 60, alertMinutes: 60, emergencyBytes: bytes(GB) }, 'dana');
  await look(60, { ownBytes: 1 * GB });
  assert.equal(volumes.get(name).capacityMode, 'normal');
  await look(600, { ownBytes: 4 * GB });
  assert.equal(volumes.get(name).capacityMode, 'alert', '6 GB are left and 0.3 GB a minute go');
  await look(600, { ownBytes: 9.5 * GB });
  assert.equal(volumes.get(name).capacityMode, 'emergency');
  await look(3600, { ownBytes: 2 * GB });
  assert.equal(volumes.get(name).capacityMode, 'normal');
  const [, alert, emergency, normal] = news();
  assert.match(alert ?? '', /will be full within 60 minutes: 6 GiB of 10 GiB are left/);
  assert.match(emergency ?? '', /runs full: 512 MiB of 10 GiB are left/);
  assert.match(normal ?? '', /has room again/);
});

test('a volume that may expands by itself, step by step up to its maximum, and then says that it cannot', async (t) => {
  const wanted = { expandsItself: true, expandByBytes: bytes(2 * GB), maxBytes: bytes(13 * GB) };
  const { name, volumes, engine, look, news } = await setUp(t, wanted);
  await volumes.protect(name, { emergencyBytes: bytes(GB) }, 'dana');
  await look(5, { ownBytes: 9.5 * GB });
  assert.equal(volumes.get(name).sizeBytes, 12 * GB);
  assert.equal(engine.volumes.get(name)?.sizeBytes, 12 * GB, 'in the engine too');
  await look(5, { ownBytes: 9.5 * GB });
  assert.equal(volumes.get(name).capacityMode, 'normal');
  await look(5, { ownBytes: 11.5 * GB });
  assert.equal(volumes.get(name).sizeBytes, 13 * GB, 'no further than its maximum');
  await look(5, { ownBytes: 12.5 * GB });
  await look(5, { ownBytes: 12.6 * GB });
  assert.equal(volumes.get(name).sizeBytes, 13 * GB);
  const failures = news().filter((title) => title.includes('could not be expanded by itself'));
  assert.deepEqual(failures, [
    `Volume data (${name}) could not be expanded by itself: it is as large as it may become.`,
  ]);
});

test('without a word on when, a volume expands as a tenth of it is left', async (t) => {
  const { name, volumes, look } = await setUp(t, { expandsItself: true, expandByBytes: bytes(GB) });
  await look(5, { ownBytes: 8.9 * GB });
  assert.equal(volumes.get(name).sizeBytes, 10 * GB);
  await look(5, { ownBytes: 9.1 * GB });
  assert.equal(volumes.get(name).sizeBytes, 11 * GB);
});

test('what snapshots hold of data that was written over does not fill the volume', async (t) => {
  const { name, volumes, engine, look, news } = await setUp(t, { expandsItself: true, expandByBytes: bytes(GB) });
  engine.shown.set(name, 2 * GB);
  await look(5, { ownBytes: 1 * GB, snapshotBytes: 40 * GB });
  assert.deepEqual([volumes.get(name).sizeBytes, volumes.get(name).capacityMode], [10 * GB, 'normal']);
  assert.deepEqual(news(), []);
  engine.shown.set(name, 9.5 * GB);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await look(5, { ownBytes: 9 * GB });
  assert.equal(volumes.get(name).sizeBytes, 11 * GB);
});
