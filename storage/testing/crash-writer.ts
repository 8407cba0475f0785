import fs from 'node:fs';
import path from 'node:path';
import { FaultyDrive } from '../drive/faulty-drive.ts';
import { Pool } from '../pool/pool.ts';
import { createGroup, openDrives, sceneOf } from './crash-scene.ts';
import { perform, storyOf } from './crash-story.ts';

/**
 * A process to be killed: performs a story on real files and prints each deed before and after it. The pipe keeps the
 * output when the process is gone.
 */
const [folder = '', seedText = ''] = process.argv.slice(2);
const seed = Number(seedText);
const scene = sceneOf(seed);
const drives = (await openDrives(folder, scene)).map((drive) => new FaultyDrive(drive));
const group = await createGroup(scene, drives);
const pool = await Pool.create({ file: path.join(folder, 'pool.db'), id: 'pool', mode: 'simple', groups: [group] });
for (const drive of drives.slice(0, scene.missing)) drive.fail();

const pause = new Int32Array(new SharedArrayBuffer(4));

/** Written when it returns. The reader may be paused, and the pipe full until it continues. */
function say(line: string): void {
  for (;;) {
    try {
      fs.writeSync(1, `${line}\n`);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(pause, 0, 0, 1);
    }
  }
}

let number = 0;
say('ready');
for (const deed of storyOf(seed, scene.isReduced)) {
  number++;
  say(`begin ${number}`);
  await perform(pool, deed, scene.options, number);
  say(`answered ${number}`);
}
