import assert from 'node:assert/strict';
import { join } from 'node:path';
import { mock, test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { LineProcess } from '../../testing/line-process.ts';
import { seededRandom } from '../../testing/random.ts';
import { temporaryFolder } from '../../testing/folders.ts';
import { until } from '../../testing/waiting.ts';
import { turns } from '../../testing/turns.ts';
import { ManualClock, systemClock, type Clock } from '../clock.ts';
import { createLog } from '../log.ts';
import { Store } from '../store/index.ts';
import { temporaryStore } from '../testing/temporary-store.ts';
import { Jobs, type JobOutcome, type JobRun, type RunningJob } from './jobs.ts';

const done: JobOutcome = { outcome: 'done' };
const log = createLog('test', 'silent');

interface Bench {
  readonly store: Store;
  readonly jobs: Jobs;
}

async function bench(
  t: TestContext,
  run: JobRun,
  options: { parallelMax?: number; clock?: Clock } = {},
): Promise<Bench> {
  const store = temporaryStore(t, 'CREATE TABLE results (job INTEGER PRIMARY KEY) STRICT');
  const jobs = newJobs(t, store, run, options);
  await jobs.start();
  return { store, jobs };
}

function newJobs(
  t: TestContext,
  store: Store,
  run: JobRun,
  options: { parallelMax?: number; clock?: Clock } = {},
): Jobs {
  const jobs = new Jobs({ store, clock: systemClock, log, ...options });
  jobs.register('work', run);
  t.after(() => jobs.stop());
  return jobs;
}

function enqueue({ store, jobs }: Bench, subject = 'thing', args?: unknown): Promise<number> {
  return store.write((tx) => jobs.enqueue(tx, 'work', subject, args));
}

function resultsIn(store: Store): number[] {
  return store.read((db) => db.all<{ job: number }>('SELECT job FROM results')).map(({ job }) => job);
}

/** Time that moves on request. Commits do not wait for timers, so all of them end before and after each step. */
function freezeTime(t: TestContext): (store: Store, ms: number) => Promise<void> {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
  t.after(() => {
    mock.timers.reset();
  });
  return async (store, ms) => {
    await commitsEnd(store);
    mock.timers.tick(ms);
    await commitsEnd(store);
  };
}

/** A commit begins in the turn after its change, and its sync takes as long as the disk needs. */
async function commitsEnd(store: Store): Promise<void> {
  for (let n = 0; n < 10; n++) {
    await turn();
    await store.whenDurable();
  }
}

test('a job exists exactly if the change that asked for it does', async (t) => {
  const seen: unknown[] = [];
  const it = await bench(t, async (job) => {
    seen.push(job.arguments);
    return done;
  });
  const undone = it.store.write((tx) => {
    it.jobs.enqueue(tx, 'work', 'thing', 'undone');
    throw new Error('as asked');
  });
  await assert.rejects(undone);
  const id = await enqueue(it, 'thing', { name: 'kept' });
  const ended = await it.jobs.wait(id, -1);
  assert.equal(ended?.state, 'done');
  assert.equal(ended.progress, 100);
  assert.deepEqual(seen, [{ name: 'kept' }]);
});

test('jobs of one subject run one after the other in their order, whatever the subjects', async (t) => {
  const active = new Set<string>();
  const order = new Map<string, number[]>();
  const it = await bench(t, async (job) => {
    const subject = job.arguments as string;
    assert.ok(!active.has(subject));
    active.add(subject);
    order.set(subject, [...(order.get(subject) ?? []), job.id]);
    await turn();
    active.delete(subject);
    return done;
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 12 }), async (subjects) => {
      order.clear();
      const ids = await Promise.all(subjects.map((subject) => enqueue(it, subject, subject)));
      for (const id of ids) assert.equal((await it.jobs.wait(id, 5000))?.state, 'done');
      for (const [subject, ran] of order) {
        assert.deepEqual(
          ran,
          ids.filter((_, n) => subjects[n] === subject),
        );
      }
    }),
    { numRuns: 15 },
  );
});

test('no more jobs run at a time than the limit allows, and no fewer', async (t) => {
  let running = 0;
  let most = 0;
  const it = await bench(
    t,
    async () => {
      most = Math.max(most, ++running);
      await until(() => most >= 3);
      await turns();
      running -= 1;
      return done;
    },
    { parallelMax: 3 },
  );
  const ids = await Promise.all(Array.from({ length: 12 }, (_, n) => enqueue(it, `thing ${n}`)));
  for (const id of ids) await it.jobs.wait(id, -1);
  assert.equal(most, 3);
});

test('a job that asks to be tried again is, after the time it names', async (t) => {
  const starts: number[] = [];
  const it = await bench(t, async (job) => {
    starts.push(Date.now());
    return job.attempts < 3 ? { outcome: 'retry', afterMs: 30, reason: 'not yet' } : done;
  });
  const id = await enqueue(it);
  await until(() => it.jobs.get(id)?.note === 'not yet');
  assert.equal((await it.jobs.wait(id, -1))?.attempts, 3);
  const waits = starts.slice(1).map((at, n) => at - (starts[n] as number));
  assert.ok(
    waits.every((ms) => ms >= 29),
    String(waits),
  );
});

test('a job that is put off starts on time though another of its subject waits behind it', async (t) => {
  const it = await bench(t, async (job) =>
    job.id === 1 && job.attempts === 1 ? { outcome: 'retry', afterMs: 50, reason: 'busy' } : done,
  );
  const [first, second] = await Promise.all([enqueue(it), enqueue(it)]);
  assert.equal((await it.jobs.wait(first, 30_000))?.state, 'done');
  assert.equal((await it.jobs.wait(second, 30_000))?.state, 'done');
});

test('a job that fails says why and holds nothing up', async (t) => {
  const it = await bench(t, async (job) => (job.id === 1 ? { outcome: 'failed', reason: 'No room.' } : done));
  const [first, second] = await Promise.all([enqueue(it), enqueue(it)]);
  const failed = await it.jobs.wait(first, -1);
  assert.deepEqual([failed?.state, failed?.error], ['failed', 'No room.']);
  assert.equal((await it.jobs.wait(second, -1))?.state, 'done');
});

test('a job of a kind this release does not know fails', async (t) => {
  const it = await bench(t, async () => done);
  const id = await it.store.write((tx) => it.jobs.enqueue(tx, 'unheard-of', 'thing', {}));
  const { state, error } = (await it.jobs.wait(id, -1)) ?? {};
  assert.equal(state, 'failed');
  assert.match(String(error), /unheard-of/);
});

test('an unexpected error is tried again with growing pauses, five times in all', async (t) => {
  const advance = freezeTime(t);
  let runs = 0;
  const it = await bench(t, () => {
    runs += 1;
    return Promise.reject(new Error('Surprise.'));
  });
  const id = await enqueue(it);
  await advance(it.store, 1);
  for (const pauseMs of [1000, 2000, 4000, 8000]) {
    const before = runs;
    await advance(it.store, pauseMs - 10);
    assert.equal(runs, before);
    await advance(it.store, 10);
    await advance(it.store, 1);
    assert.equal(runs, before + 1);
  }
  assert.equal(runs, 5);
  assert.deepEqual([it.jobs.get(id)?.state, it.jobs.get(id)?.error], ['failed', 'Surprise.']);
});

test('times a job asked to be tried again do not count as unexpected errors', async (t) => {
  const advance = freezeTime(t);
  const it = await bench(t, async (job) => {
    if (job.attempts <= 20) return { outcome: 'retry', afterMs: 10, reason: 'still waiting' };
    if (job.attempts === 21) throw new Error('Surprise.');
    return done;
  });
  const id = await enqueue(it);
  for (let n = 0; n < 25; n++) await advance(it.store, 10);
  assert.equal(it.jobs.get(id)?.state, 'queued');
  await advance(it.store, 1000);
  await advance(it.store, 1);
  assert.equal(it.jobs.get(id)?.state, 'done');
});

test('a job ends in the transaction of its last change: both happen or neither', async (t) => {
  const advance = freezeTime(t);
  const it = await bench(t, async (job) => ({
    outcome: 'done',
    finish: (tx) => {
      tx.run('INSERT INTO results VALUES (:id)', { id: job.id });
      if (job.attempts === 1) throw new Error('Surprise.');
    },
  }));
  const id = await enqueue(it);
  await advance(it.store, 1);
  assert.deepEqual([it.jobs.get(id)?.state, resultsIn(it.store)], ['running', []]);
  for (let n = 0; n < 4; n++) await advance(it.store, 1000);
  assert.deepEqual([it.jobs.get(id)?.state, resultsIn(it.store)], ['done', [id]]);
  assert.equal(it.jobs.get(id)?.attempts, 2);
});

test('who waits for a job gets it when it ends, or as it stands when the time is up', async (t) => {
  const gate = Promise.withResolvers<JobOutcome>();
  const it = await bench(t, () => gate.promise);
  const id = await enqueue(it);
  assert.equal(await it.jobs.wait(99, -1), undefined);
  assert.equal((await it.jobs.wait(id, 0))?.finishedAt, null);
  await until(() => it.jobs.get(id)?.state === 'running');
  assert.equal((await it.jobs.wait(id, 20))?.state, 'running');
  const patient = [it.jobs.wait(id, -1), it.jobs.wait(id, 10_000), it.jobs.wait(id, Number.MAX_SAFE_INTEGER)];
  const early = await Promise.race([...patient, turns().then(() => 'still waiting')]);
  assert.equal(early, 'still waiting');
  gate.resolve(done);
  for (const row of await Promise.all(patient)) assert.equal(row?.state, 'done');
  assert.equal((await it.jobs.wait(id, -1))?.state, 'done');
});

test('a job that is tried again keeps those who wait for it waiting', async (t) => {
  const it = await bench(t, async (job) =>
    job.attempts === 1 ? { outcome: 'retry', afterMs: 20, reason: 'busy' } : done,
  );
  const id = await enqueue(it);
  assert.equal((await it.jobs.wait(id, -1))?.state, 'done');
});

test('progress and checkpoint are on disk when saving resolves, and the next run starts from them', async (t) => {
  const checkpoints: unknown[] = [];
  const it = await bench(t, async (job) => {
    checkpoints.push(job.checkpoint);
    if (job.attempts === 3) return done;
    if (job.attempts === 2) {
      await job.save(60.9, 'note alone');
      assert.deepEqual(shown(it.jobs, job), [60, 'note alone', '{"at":7}']);
    } else {
      await job.save(50, 'half', { at: 7 });
      assert.deepEqual(shown(it.jobs, job), [50, 'half', '{"at":7}']);
    }
    return { outcome: 'retry', afterMs: 0, reason: '' };
  });
  const id = await enqueue(it);
  assert.equal((await it.jobs.wait(id, -1))?.state, 'done');
  assert.deepEqual(checkpoints, [undefined, { at: 7 }, { at: 7 }]);
});

function shown(jobs: Jobs, job: RunningJob): unknown[] {
  const row = jobs.get(job.id);
  return [row?.progress, row?.note, row?.checkpoint];
}

test('a service that stops lets its jobs go, and the next start takes them up from their checkpoint', async (t) => {
  const it = await bench(t, async (job) => {
    await job.save(10, 'begun', { at: 1 });
    // The service may stop while the checkpoint is being made durable.
    job.signal.throwIfAborted();
    await new Promise((_, reject) => job.signal.addEventListener('abort', () => reject(new Error('stopped'))));
    return done;
  });
  const id = await enqueue(it);
  await until(() => it.jobs.get(id)?.note === 'begun');
  const waiting = it.jobs.wait(id, -1);
  await it.jobs.stop();
  assert.equal((await waiting)?.state, 'queued');
  assert.equal((await it.jobs.wait(id, -1))?.state, 'queued');

  let resumedFrom: unknown;
  const next = newJobs(t, it.store, async (job) => {
    resumedFrom = job.checkpoint;
    return done;
  });
  await next.start();
  assert.equal((await next.wait(id, -1))?.state, 'done');
  assert.deepEqual(resumedFrom, { at: 1 });
});

test('jobs that ended a week ago are forgotten', async (t) => {
  const clock = new ManualClock('2026-01-01T00:00:00Z');
  const it = await bench(t, async () => done, { clock });
  const old = await enqueue(it);
  await it.jobs.wait(old, -1);
  clock.advance(7 * 24 * 3600 * 1000);
  const young = await enqueue(it);
  await it.jobs.wait(young, -1);
  clock.advance(1);
  const last = await enqueue(it);
  await it.jobs.wait(last, -1);
  assert.deepEqual(
    [old, young, last].map((id) => it.jobs.get(id)?.state),
    [undefined, 'done', 'done'],
  );
});

test('a disk that is full for a while puts jobs off, it loses none and does none twice', async (t) => {
  const advance = freezeTime(t);
  let runs = 0;
  const it = await bench(t, async (job) => {
    runs += 1;
    if (runs === 1)
      await it.store.write((tx) =>
        tx.run("CREATE TEMP TRIGGER full BEFORE UPDATE ON jobs BEGIN SELECT RAISE(ROLLBACK, 'disk full'); END"),
      );
    return { outcome: 'done', finish: (tx) => tx.run('INSERT INTO results VALUES (:id)', { id: job.id }) };
  });
  const ids = await Promise.all([enqueue(it), enqueue(it)]);
  for (let n = 0; n < 5; n++) await advance(it.store, 1000);
  assert.deepEqual(resultsIn(it.store), []);
  await it.store.write((tx) => tx.run('DROP TRIGGER full'));
  for (let n = 0; n < 10; n++) await advance(it.store, 1000);
  assert.deepEqual(resultsIn(it.store), ids);
});

test('after kill -9 jobs go on from their last checkpoint and none is done twice', async (t) => {
  const random = seededRandom(t);
  const file = join(temporaryFolder(t), 'jobs.db');
  const saved = new Map<string, number>();
  let kills = 0;
  for (let finished = false; !finished;) {
    const [lines, momentMs] = [1 + Math.floor(random() * 30), random() * 5];
    const script = new URL('testing/worker.ts', import.meta.url);
    const worker = new LineProcess(script, file, String(lines), String(momentMs));
    await worker.ended();
    for (const line of worker.lines) checkLine(line, saved);
    finished = worker.lines.includes('finished');
    if (!finished) kills += 1;
    assert.ok(kills < 100);
  }
  t.diagnostic(`killed ${kills} times`);
  assert.ok(kills >= 2);

  const store = new Store(file, { component: 'reader', steps: [] });
  const counted = store.read((db) => db.all<{ job: number }>('SELECT job FROM counted ORDER BY job'));
  store.close();
  assert.deepEqual(
    counted.map(({ job }) => job),
    Array.from({ length: 12 }, (_, n) => n + 1),
  );
});

/** What was acknowledged as saved is where the next run starts, or later: the answer itself may have been lost. */
function checkLine(line: string, saved: Map<string, number>): void {
  const [what, job = '', step] = line.split(' ');
  if (what === 'start') assert.ok(Number(step) >= (saved.get(job) ?? 0), `${line} after ${saved.get(job)}`);
  if (what === 'saved') saved.set(job, Number(step));
}

test('jobs that are tried again and again do not crowd out the others', async (t) => {
  const run: JobRun = ({ arguments: args }) =>
    Promise.resolve(args === 'quick' ? done : { outcome: 'retry', afterMs: 1, reason: 'not yet' });
  const made = await bench(t, run, { parallelMax: 2 });
  for (let n = 0; n < 8; n += 1) await enqueue(made, `stubborn ${n}`);
  const quick = await enqueue(made, 'quick', 'quick');
  assert.equal((await made.jobs.wait(quick, 30_000))?.state, 'done');
});

test('a job that is given up on tells its subject so, in the transaction that ends it', async (t) => {
  const tick = freezeTime(t);
  const store = temporaryStore(t, 'CREATE TABLE results (job INTEGER PRIMARY KEY) STRICT');
  const jobs = new Jobs({ store, clock: systemClock, log });
  t.after(() => jobs.stop());
  const reported: unknown[] = [];
  jobs.register(
    'work',
    () => Promise.reject(new Error('it broke')),
    (_, args, reason) => reported.push([args, reason]),
  );
  await jobs.start();
  const id = await store.write((tx) => jobs.enqueue(tx, 'work', 'thing', 7));
  for (let n = 0; n < 10; n += 1) await tick(store, 60_000);
  assert.deepEqual(reported, [[7, 'it broke']]);
  assert.equal(jobs.get(id)?.state, 'failed');
});
