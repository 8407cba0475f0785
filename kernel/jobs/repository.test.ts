import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryStore } from '../testing/temporary-store.ts';
import { claimJob, findJob, findStartable, finishJob, insertJob, requeueJob, saveProgress } from './repository.ts';

const job = { kind: 'count', subject: 'volume:1', arguments: 'null', now: 0 };
const done = { state: 'done', error: null, now: 1 } as const;

test('of two who claim a job one gets it', async (t) => {
  const store = temporaryStore(t);
  const id = await store.write((tx) => insertJob(tx, job));
  const claims = await Promise.all(['a', 'b'].map((ticket) => store.write((tx) => claimJob(tx, id, ticket))));
  assert.deepEqual(claims, [true, false]);
});

test('only the ticket that holds a job saves, puts back or ends it', async (t) => {
  const store = temporaryStore(t);
  const id = await store.write((tx) => insertJob(tx, job));
  const delay = { runAfter: 0, note: 'later', surprises: 0 };
  await store.write((tx) => {
    assert.equal(finishJob(tx, id, 'mine', done), false);
    assert.equal(claimJob(tx, id, 'mine'), true);
    const held = findJob(tx, id);
    saveProgress(tx, id, 'theirs', { progress: 50, note: 'half', checkpoint: '{}' });
    requeueJob(tx, id, 'theirs', delay);
    assert.equal(finishJob(tx, id, 'theirs', done), false);
    assert.deepEqual(findJob(tx, id), held);
    assert.equal(finishJob(tx, id, 'mine', done), true);
    assert.equal(finishJob(tx, id, 'mine', done), false);
    requeueJob(tx, id, 'mine', delay);
    assert.equal(findJob(tx, id)?.state, 'done');
  });
});

test('the oldest unfinished job of a subject starts first, and holds the others until it has ended', async (t) => {
  const store = temporaryStore(t);
  await store.write((tx) => {
    const [first, second] = [insertJob(tx, job), insertJob(tx, job)];
    const other = insertJob(tx, { ...job, subject: 'volume:2' });
    const startable = () => findStartable(tx, 0, 10).map(({ id }) => id);
    assert.deepEqual(startable(), [first, other]);
    claimJob(tx, first, 'a');
    assert.deepEqual(startable(), [other]);
    requeueJob(tx, first, 'a', { runAfter: 1000, note: '', surprises: 0 });
    assert.deepEqual(startable(), [other]);
    tx.run('UPDATE jobs SET run_after = 0');
    claimJob(tx, first, 'b');
    finishJob(tx, first, 'b', { ...done, state: 'failed' });
    assert.deepEqual(startable(), [second, other]);
  });
});

test('finished jobs do not slow down the search for the next one', async (t) => {
  const store = temporaryStore(t);
  const plan = store.read((db) =>
    db.all<{ detail: string }>(
      `EXPLAIN QUERY PLAN SELECT * FROM jobs AS job WHERE state = 'queued' AND run_after <= 0 AND NOT EXISTS
       (SELECT 1 FROM jobs AS earlier WHERE earlier.subject = job.subject AND earlier.id < job.id
        AND earlier.state IN ('queued', 'running')) ORDER BY id LIMIT 8`,
    ),
  );
  const steps = plan.map(({ detail }) => detail).join('\n');
  assert.match(steps, /job USING INDEX jobs_by_state/);
  assert.match(steps, /earlier USING .*INDEX jobs_unfinished/);
});
