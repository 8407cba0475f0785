import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';
import { definedOf } from './aws-sdk.ts';
import { makePool, orderArray } from './block-array.ts';
import { startGranary } from './granary.ts';
import { orderObjects } from './object-account.ts';
import { ended, printed, type Surroundings } from './programs.ts';

/**
 * Goal: what `npm run pack` writes installs in an empty folder and works there: the SDK in a strict TypeScript project, the
 * product as a global command. Both run on the Node that the machine has, which may be older than the one of this source.
 */
const ROOT = join(import.meta.dirname, '..');
/** Without the folders that npm puts in front: the Node of the machine, not ours. */
const PATH = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter);
const INSTALL = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const packed = (name: string) => join(ROOT, 'build', `${name}-${version}.tgz`);

let folder: string;
let around: Surroundings;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'granary-e2e-'));
  // The settings of npm are the user's: where packages come from, among others.
  around = { cwd: folder, env: { ...definedOf(process.env), PATH } };
  await printed('npm', ['run', 'pack', '--silent'], { ...around, cwd: ROOT, env: definedOf(process.env) });
});

after(() => {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  rmSync(join(ROOT, 'build'), { recursive: true, force: true });
});

const PROGRAM = `
import { ApiError, ConnectionError, arrayClient, portalClient } from '@granary/client';
import { portalApi } from '@granary/client/contract/portal';

async function names(url: string, token: string): Promise<(string | null)[]> {
  const { data } = await portalClient({ url, token }).arrays.list({ name: 'tank' });
  const { volumes } = await arrayClient({ url: data[0]?.management_url ?? url }).volumes.list();
  return volumes.map((volume) => volume.display_name);
}
// @ts-expect-error -- a name is a text
void (() => portalClient({ url: '' }).arrays.list({ name: 1 }));
const problem: unknown = await names('http://127.0.0.1:1', 'none').catch((error: unknown) => error);
console.log(portalApi.name, problem instanceof ConnectionError, problem instanceof ApiError);
`;

test('a fresh project installs the SDK, compiles with strict types and runs', async () => {
  const cwd = join(folder, 'project');
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'package.json'), '{ "private": true, "type": "module" }');
  writeFileSync(join(cwd, 'main.ts'), PROGRAM);
  await printed('npm', [...INSTALL, packed('granary-client')], { ...around, cwd });
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2022', 'main.ts'];
  const compiled = await ended(process.execPath, [compiler, ...options, '--lib', 'es2023,dom'], { ...around, cwd });
  assert.equal(compiled.stdout, '');
  assert.equal(compiled.code, 0);
  assert.equal(await printed('node', ['main.js'], { ...around, cwd }), 'portal true false\n');
});

test('the product that npm installed runs arrays of both kinds', async (t) => {
  await printed('npm', [...INSTALL, '--global', '--prefix', folder, packed('granary')], around);
  const installed = join(folder, 'bin', 'granary');
  assert.equal((await printed(installed, ['--version'], around)).trim(), version);
  const granary = await startGranary(join(folder, 'data'), { env: { PATH }, installed });
  t.after(() => granary.kill());
  const admin = await granary.admin();
  const [array] = await Promise.all([orderArray(admin, 'tank', { SSD_10GB: 2 }), orderObjects(admin, 'depot', 4)]);
  const { pool } = await makePool(array.client, 'fast');
  await array.client.volumes.create({ name: 'data', capacity: 1, pool });
  assert.equal((await array.client.volumes.list()).count, 1);
  assert.equal(await granary.stop(), 0);
});
