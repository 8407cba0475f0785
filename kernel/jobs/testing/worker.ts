import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../clock.ts';
import { createLog } from '../../log.ts';
import { Store } from '../../store/index.ts';
import { Jobs } from '../jobs.ts';

/** Counts in jobs, a checkpoint at every number, until all are done or the process is killed. */
const [file = ''] = process.argv.slice(2);
const JOBS = 12;
const STEPS = 10;

interface Place {
  readonly step: number;
}

const store = new Store(file, {
  component: 'counting',
  steps: [{ name: '0001-counted.sql', sql: 'CREATE TABLE counted (job INTEGER NOT NULL) STRICT' }],
});
const jobs = new Jobs({ store, clock: systemClock, log: createLog('worker', 'silent'), parallelMax: 3 });

jobs.register<unknown, Place>('count', async (job) => {
  let step = job.checkpoint?.step ?? 0;
  writeSync(1, `start ${job.id} ${step}\n`);
  while (step < STEPS) {
    await sleep(2);
    step += 1;
    await job.save((step / STEPS) * 100, `step ${step}`, { step });
    writeSync(1, `saved ${job.id} ${step}\n`);
  }
  return { outcome: 'done', finish: (tx) => tx.run('INSERT INTO counted VALUES (:id)', { id: job.id }) };
});

function count(table: string): number {
  return store.read((db) => db.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))?.n ?? 0;
}

if (count('jobs') === 0) {
  await store.write((tx) => {
    for (let n = 0; n < JOBS; n++) jobs.enqueue(tx, 'count', `subject ${n % 4}`, undefined);
  });
}
await jobs.start();
for (let id = 1; id <= JOBS; id++) await jobs.wait(id, -1);
writeSync(1, 'finished\n');
await jobs.stop();
store.close();
