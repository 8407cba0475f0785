import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Restores a database and kills itself before a given step that changes files:
 * `restorer.ts <database> <copy> <steps before the kill>`.
 */
const [file = '', copy = '', steps = ''] = process.argv.slice(2);
let left = Number(steps);

function killed<A extends unknown[], R>(step: (...args: A) => R): (...args: A) => R {
  return (...args) => {
    if (left === 0) process.kill(process.pid, 'SIGKILL');
    left -= 1;
    return step(...args);
  };
}

const { copyFileSync, renameSync, rmSync, writeSync, fsyncSync, fdatasyncSync } = fs;
const { restoreCopy } = await import('../index.ts');
Object.assign(fs, {
  copyFileSync: killed(copyFileSync),
  renameSync: killed(renameSync),
  rmSync: killed(rmSync),
  writeSync: killed(writeSync),
  fsyncSync: killed(fsyncSync),
  fdatasyncSync: killed(fdatasyncSync),
});
syncBuiltinESMExports();
restoreCopy(file, copy);
fs.writeFileSync(1, 'done\n');
