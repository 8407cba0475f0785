import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../clock.ts';
import { createLog } from '../../log.ts';
import { Store } from '../../store/index.ts';
import { Jobs } from '../jobs.ts';

/**
 * Counts in jobs, a checkpoint at every number, until all are done. It kills itself, as kill -9 does, some moment after it
 * has printed a number of lines: how fast the machine is does not matter.
 */
const [file = '', lines = '', moment = ''] = process.argv.slice(2);
let linesLeft = Number(lines);
const JOBS = 12;
const STEPS = 10;

interface Place {
  readonly step: number;
}

function print(line: string): void {
  writeSync(1, `${line}\n`);
  linesLeft -= 1;
  if (linesLeft === 0) setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(moment));
}

const store = new Store(file, {
  component: 'counting',
  steps: [{ name: '0001-counted.sql', sql: 'CREATE TABLE counted (job INTEGER NOT NULL) STRICT' }],
});
const jobs = new Jobs({ store, clock: systemClock, log: createLog('worker', 'silent'), parallelMax: 3 });

jobs.register<unknown, Place>('count', async (job) => {
  let step = job.checkpoint?.step ?? 0;
  print(`start ${job.id} ${step}`);
  while (step < STEPS) {
    await sleep(2);
    step += 1;
    await job.save((step / STEPS) * 100, `step ${step}`, { step });
    print(`saved ${job.id} ${step}`);
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
