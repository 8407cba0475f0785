import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../testing/folders.ts';
import { version } from './version.ts';

const entry = fileURLToPath(new URL('bin/granary.js', import.meta.url));

/** Makes a Node look like an older one. */
const OLD = [
  '--import',
  'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.1.0"}})',
];

function run(nodeArgs: readonly string[], file: string, ...args: string[]) {
  const env = { ...process.env, GRANARY_LAUNCHER: undefined };
  const { status, stdout, stderr } = spawnSync(process.execPath, [...nodeArgs, file, ...args], {
    encoding: 'utf8',
    env,
  });
  return { status, stdout, stderr };
}

test('the command runs as it is, without a word too many', () => {
  assert.deepEqual(run([], entry, '--version'), { status: 0, stdout: `${version}\n`, stderr: '' });
});

test('an older Node starts the one that was installed with it, and passes on what that one says', () => {
  assert.deepEqual(run(OLD, entry, '--version'), { status: 0, stdout: `${version}\n`, stderr: '' });
  const wrong = run(OLD, entry, 'frobnicate');
  assert.deepEqual([wrong.status, wrong.stderr.startsWith('granary: unknown command')], [2, true]);
});

test('an older Node that is alone says what is needed', (t) => {
  const alone = join(temporaryFolder(t), 'granary.mjs');
  cpSync(entry, alone);
  const { status, stderr } = run(OLD, alone, '--version');
  assert.equal(status, 1);
  assert.match(stderr, /^granary: Granary needs Node 24; .*`npm ci` with install scripts allowed, or install Node 24/);
});
