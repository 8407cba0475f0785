// Goal: a run says of every file how its tests went, and no file hides a failure of its own or of another.
// Method: small files of tests run in workers as `npm test` runs them.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { temporaryFolder } from '../../testing/folders.ts';
import { runFiles, type FileResult } from './pool.ts';

const HEAD = `import assert from 'node:assert/strict';\nimport { describe, test } from 'node:test';\n`;

/** Runs the files one after the other in one worker, or each in its own. */
async function run(t: TestContext, bodies: readonly string[], isIsolated = false): Promise<FileResult[]> {
  const folder = temporaryFolder(t);
  const files = bodies.map((body, index) => {
    const file = join(folder, `${index}.test.ts`);
    writeFileSync(file, HEAD + body);
    return file;
  });
  const results: FileResult[] = [];
  const onResult = (result: FileResult) => results.push(result);
  await runFiles(files, { concurrency: 1, env: {}, isIsolated: () => isIsolated, onResult });
  assert.deepEqual(
    results.map(({ file }) => file),
    files,
  );
  return results;
}

const outcomes = ({ tests }: FileResult) => tests.map(({ path, outcome }) => `${path.join(' › ')}: ${outcome}`);

test('every test is reported with its path, its outcome and the reason', async (t) => {
  const [result] = await run(t, [
    `test('good', () => undefined);
     test('bad', () => assert.equal(1, 2));
     test('not here', { skip: 'no such machine' }, () => undefined);
     describe('a suite', () => { test('inside', () => undefined); });
     test('outer', async (t) => { await t.test('inner', () => { throw new Error('inner failure'); }); });`,
  ]);
  assert.ok(result);
  assert.deepEqual(outcomes(result), [
    'good: passed',
    'bad: failed',
    'not here: skipped',
    'a suite › inside: passed',
    'outer › inner: failed',
  ]);
  assert.match(result.tests[1]?.detail ?? '', /1 !== 2/);
  assert.equal(result.tests[2]?.detail, 'no such machine');
  assert.match(result.tests[4]?.detail ?? '', /inner failure/);
  assert.deepEqual(result.problems, []);
});

test('what a file changes in its process is its failure, and the next file does not see it', async (t) => {
  const [leaking, next] = await run(t, [
    `test('sets a variable', () => { process.env['GRANARY_LEFT_BEHIND'] = '1'; });`,
    `test('finds none', () => assert.equal(process.env['GRANARY_LEFT_BEHIND'], undefined));`,
  ]);
  assert.deepEqual(leaking?.problems, ['it leaves the environment variable GRANARY_LEFT_BEHIND']);
  assert.deepEqual(next && [outcomes(next), next.problems], [['finds none: passed'], []]);
});

test('a process that dies fails its file, and the next file has a new one', async (t) => {
  const [dead, next] = await run(t, [`test('dies', () => process.exit(7));`, `test('lives', () => undefined);`]);
  assert.deepEqual(dead?.problems, ['its process ended: exit code 7']);
  assert.deepEqual(next && outcomes(next), ['lives: passed']);
});

test('an error after the end of its test fails the file', async (t) => {
  const [result] = await run(t, [
    `test('ends early', () => { setImmediate(() => { throw new Error('too late'); }); });
     test('waits', () => new Promise((resolve) => setTimeout(resolve, 50)));`,
  ]);
  assert.match(result?.problems.join() ?? '', /too late/);
});

test('a file that cannot be loaded fails', async (t) => {
  const [result] = await run(t, [`import './missing.ts';`]);
  assert.deepEqual(
    result?.tests.map(({ outcome }) => outcome),
    ['failed'],
  );
});

test('a seed that a test reports is in the output', async (t) => {
  const [result] = await run(t, [`test('random', (t) => { t.diagnostic('GRANARY_TEST_SEED=5'); });`]);
  assert.match(result?.output ?? '', /GRANARY_TEST_SEED=5/);
});

test('isolated files share no process', async (t) => {
  const body = `test('counts', (t) => { globalThis.count = (globalThis.count ?? 0) + 1; t.diagnostic('count ' + globalThis.count); });`;
  const shared = await run(t, [body, body]);
  assert.match(shared[1]?.output ?? '', /count 2/);
  const isolated = await run(t, [body, body], true);
  assert.match(isolated[1]?.output ?? '', /count 1/);
});
