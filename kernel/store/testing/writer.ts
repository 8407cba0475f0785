import { writeSync } from 'node:fs';
import { Store } from '../index.ts';

/** Writes pairs until it is killed, and prints each one that was acknowledged. */
const [file = '', first = '0'] = process.argv.slice(2);
const WRITERS = 20;

const store = new Store(
  file,
  {
    component: 'pairs',
    steps: [{ name: '0001-pairs.sql', sql: 'CREATE TABLE left_half (n); CREATE TABLE right_half (n);' }],
  },
  500,
);
writeSync(1, 'open\n');

let next = Number(first);
async function writePairs(): Promise<never> {
  for (;;) {
    const n = next++;
    await store.write((tx) => {
      tx.run('INSERT INTO left_half VALUES (:n)', { n });
      tx.run('INSERT INTO right_half VALUES (:n)', { n });
    });
    writeSync(1, `${n}\n`);
  }
}
for (let writer = 0; writer < WRITERS; writer++) void writePairs();
