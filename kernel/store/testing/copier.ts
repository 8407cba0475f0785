import { writeSync } from 'node:fs';
import { createLog } from '../../log.ts';
import { Store } from '../index.ts';

/** Writes pairs and makes copies until it is killed; prints each copy. */
const [file = ''] = process.argv.slice(2);
const sql = 'CREATE TABLE left_half (n, filler); CREATE TABLE right_half (n);';
const store = new Store(file, { component: 'pairs', steps: [{ name: '0001-pairs.sql', sql }] }, 2000);
const copies = store.keepCopies({ log: createLog('test', 'silent') });

async function writePairs(): Promise<never> {
  for (let n = 0; ; n++) {
    await store.write((tx) => {
      tx.run('INSERT INTO left_half VALUES (:n, :filler)', { n, filler: 'x'.repeat(500) });
      tx.run('INSERT INTO right_half VALUES (:n)', { n });
    });
  }
}

void writePairs();
for (;;) {
  await copies.make();
  writeSync(1, 'copied\n');
}
