import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { portalClient, type PortalClient } from '@granary/client';
import { temporaryFolder } from '../testing/folders.ts';
import { until } from '../testing/waiting.ts';
import {
  adminPassword,
  ownAddresses,
  pause,
  startFarCloud,
  startGranary,
  type FarCloud,
  type Granary,
} from './granary.ts';

const command = fileURLToPath(new URL('../cli/bin/granary.js', import.meta.url));
const STORY_MS_MAX = 600_000;

async function granary(
  args: readonly string[],
  { killAfterMs, env }: { killAfterMs?: number; env?: Readonly<Record<string, string>> } = {},
) {
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
  const child = spawn(process.execPath, [command, ...args], { env: { ...process.env, ...env }, stdio });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  if (killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs).unref();
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

async function started(t: TestContext, ...args: Parameters<typeof startGranary>): Promise<Granary> {
  const running = await startGranary(...args);
  t.after(() => running.kill());
  return running;
}

async function orderArray(admin: PortalClient, name: string, provider = 'local'): Promise<void> {
  const order = { name, provider, engine: 'engine_small', drives: { SSD_10GB: 2 }, moderate: false };
  await admin.arrays.create(order);
  await reaches(admin, name, 'created');
}

async function arrayNamed(admin: PortalClient, name: string) {
  return (await admin.arrays.list({})).data.find((one) => one.name === name);
}

async function reaches(admin: PortalClient, name: string, status: string): Promise<void> {
  await until(async () => (await arrayNamed(admin, name))?.status === status, `${name} is ${status}`, 120_000);
}

async function runningArrays(running: Granary, count: number) {
  return until(
    async () => {
      const { data } = await running.cloud().hostedArrays.list();
      return data.filter(({ state }) => state === 'running').length === count && data;
    },
    `${count} arrays run`,
    120_000,
  );
}

/** How many arrays the line that says Granary is ready counts, whatever their states. */
function arraysCounted({ output }: Granary): number {
  const [, up, starting, , failed] =
    /^Granary is ready.* \((\d+) arrays? up, (\d+) starting(, (\d+) failed)?\)$/.exec(output.at(-1) ?? '') ?? [];
  return Number(up) + Number(starting) + Number(failed ?? 0);
}

function copiesOf(dataDir: string, part: 'portal' | 'cloud'): string[] {
  const folder = join(dataDir, part, 'copies');
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('Z')) : [];
}

test(
  'damaged databases keep no array from serving, and older copies of them lose no array',
  { timeout: STORY_MS_MAX },
  async (t) => {
    const dataDir = temporaryFolder(t);
    let running = await started(t, dataDir);
    assert.equal(arraysCounted(running), 0);
    await orderArray(await running.admin(), 'first');
    await until(
      async () => Promise.resolve(copiesOf(dataDir, 'portal').length > 0 && copiesOf(dataDir, 'cloud').length > 0),
      'the databases are copied',
    );
    await orderArray(await running.admin(), 'second');
    await running.stop();

    // The portal's database is lost: its arrays run, and the start says which file and what to do.
    truncateSync(join(dataDir, 'portal', 'portal.db'), 0);
    running = await started(t, dataDir);
    assert.match(running.output.join('\n'), /ready, without its portal/);
    assert.equal(arraysCounted(running), 2);
    await runningArrays(running, 2);
    const refused = await granary(['restore-books', 'portal', '--data', dataDir]);
    assert.match(refused.output, /stop it first/);
    await running.stop();
    const restored = await granary(['restore-books', 'portal', '--data', dataDir]);
    assert.equal(restored.code, 0, restored.output);
    assert.match(restored.output, /recover-arrays/);

    // The cloud's database is garbage: arrays start by the records in their folders; nothing can be changed.
    const cloudDb = join(dataDir, 'cloud', 'cloud.db');
    writeFileSync(cloudDb, Buffer.alloc(readFileSync(cloudDb).length, 'garbage'));
    running = await started(t, dataDir);
    const [{ uuid } = { uuid: '' }] = await runningArrays(running, 2);
    await assert.rejects(running.cloud().hostedArrays.delete({ uuid }), /cloud\.db is damaged/);
    await running.stop();
    const cloudRestored = await granary(['restore-books', 'cloud', '--data', dataDir]);
    assert.equal(cloudRestored.code, 0, cloudRestored.output);

    // Both are older than the second array now: the cloud finds it by its folder, the portal takes it back.
    running = await started(t, dataDir);
    assert.equal(arraysCounted(running), 2);
    await runningArrays(running, 2);
    assert.deepEqual((await running.cloud().inventory.check()).data, []);
    const admin = await running.admin();
    assert.equal(await arrayNamed(admin, 'second'), undefined);
    await until(
      async () => JSON.stringify(await admin.events.list({})).includes('recover-arrays'),
      'the unknown array is named',
    );
    const { data } = await admin.clouds.recoverArrays({ id: 1 });
    assert.deepEqual(
      data.map(({ name, owner }) => [name, owner]),
      [['second', 'admin']],
    );
    await reaches(admin, 'second', 'created');
    await reaches(admin, 'first', 'created');
    assert.equal(await running.stop(), 0);
  },
);

/** A whole copy, without what is a hole in it: drives are sparse. */
function copyFolder(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', '--sparse=always', '--', from, to], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

async function adopt(at: Granary, cloud: number): Promise<void> {
  const { data } = await portalClient({ url: at.url }).tokens.get({ username: 'admin', password: adminPassword });
  const env = { GRANARY_URL: at.url, GRANARY_TOKEN: data.token };
  const { code, output } = await granary(['clouds', 'adopt', String(cloud)], { env });
  assert.equal(code, 0, output);
}

interface Double {
  readonly far: FarCloud;
  readonly cloudId: number;
  readonly original: PortalClient;
  readonly copy: Granary;
}

/** A cloud on another machine refuses the copy of its portal until it is adopted, and the original from then on. */
async function moveFarCloud({ far, cloudId, original, copy }: Double): Promise<void> {
  const there = await copy.admin();
  const hosted = async () => (await far.client().hostedArrays.list()).data[0];
  const words = /takes no commands from this portal: .*granary clouds adopt/;
  const isRefused = (client: PortalClient) =>
    until(async () => words.test((await arrayNamed(client, 'away'))?.status_message ?? ''), 'the refusal is shown');
  const id = { array_id: Number((await arrayNamed(there, 'away'))?.id) };
  const before = await hosted();
  await there.arrays.hibernate(id);
  await isRefused(there);
  const after = await hosted();
  assert.deepEqual([after?.state, after?.pid], ['running', before?.pid]);
  await adopt(copy, cloudId);
  await reaches(there, 'away', 'hibernated');
  assert.equal((await hosted())?.state, 'stopped');
  await original.arrays.hibernate(id);
  await isRefused(original);
}

test(
  'a copy commands no cloud until clouds are moved to it; a backup is restored beside the original',
  { timeout: STORY_MS_MAX },
  async (t) => {
    const [dataDir, other, backups] = [temporaryFolder(t), temporaryFolder(t), temporaryFolder(t)];
    const original = await started(t, dataDir);
    const admin = await original.admin();
    const far = await startFarCloud(temporaryFolder(t), ownAddresses().replace(/^127\.\d+/, '127.91'));
    t.after(() => far.kill());
    const place = { ip: far.address, admin_user: 'cloud', admin_key: far.adminKey };
    const { cloud_id: cloudId } = (await admin.clouds.create({ name: 'far', ...place })).data;
    await admin.providers.create({ name: 'far', key: 'far', cloud_id: cloudId });
    await Promise.all([orderArray(admin, 'tank'), orderArray(admin, 'away', 'far')]);
    const [before] = await runningArrays(original, 1);

    const copyDir = join(other, 'copy');
    copyFolder(dataDir, copyDir);
    const copy = await started(t, copyDir);
    assert.match(copy.output.at(-1) ?? '', /\(0 arrays up, 0 starting, 1 failed\)$/);
    const { data } = await copy.cloud().hostedArrays.list();
    assert.deepEqual(
      data.map(({ state }) => state),
      ['failed'],
    );
    assert.match(data[0]?.reason ?? '', /copy of .*granary clouds adopt/);
    await assert.rejects(copy.cloud().hostedArrays.delete({ uuid: before?.uuid ?? '' }), /takes no commands/);
    await moveFarCloud({ far, cloudId, original: admin, copy });
    await copy.stop();
    const [after] = await runningArrays(original, 1);
    assert.deepEqual([after?.pid, after?.restarts], [before?.pid, before?.restarts]);

    // A running array is named as not included; a hibernated one is copied with its drives.
    const first = await granary(['backup', '--data', dataDir, '--to', backups]);
    assert.equal(first.code, 0, first.output);
    assert.match(first.output, /drives are not included: the array runs/);
    assert.match(first.output, /keys unencrypted/);
    await admin.arrays.hibernate({ array_id: Number((await arrayNamed(admin, 'tank'))?.id) });
    await reaches(admin, 'tank', 'hibernated');
    const passphrase = join(other, 'passphrase');
    writeFileSync(passphrase, 'a passphrase that is long');
    const withDrives = ['backup', '--data', dataDir, '--to', backups, '--with-drives', '--passphrase-file', passphrase];
    for (const ms of [150, 400, 800]) await granary(withDrives, { killAfterMs: ms });
    await pause(1000);
    const second = await granary(withDrives);
    assert.equal(second.code, 0, second.output);
    assert.ok(readdirSync(backups).every((name) => !name.endsWith('.unfinished')));

    const restoredDir = join(other, 'restored');
    const addresses = ownAddresses().replace(/^127\.\d+/, '127.90');
    const restore = ['restore', '--from', backups, '--data', restoredDir, '--addresses', addresses];
    assert.equal((await granary(restore)).code, 3);
    const restoreArgs = [...restore, '--passphrase-file', passphrase];
    for (const ms of [150, 400, 800]) await granary(restoreArgs, { killAfterMs: ms });
    if (!existsSync(restoredDir)) assert.equal((await granary(restoreArgs)).code, 0);
    const restored = await started(t, restoredDir, { addresses });
    const there = await restored.admin();
    await there.arrays.restore({ array_id: Number((await arrayNamed(there, 'tank'))?.id) });
    await reaches(there, 'tank', 'created');
    const [moved] = await runningArrays(restored, 1);
    assert.match(moved?.ip_address ?? '', /^127\.90\./);
    assert.equal((await arrayNamed(admin, 'tank'))?.status, 'hibernated');
    await restored.stop();
    await original.stop();

    // The original is gone for good: the copy takes its place.
    const heir = await started(t, copyDir);
    await adopt(heir, 1);
    await runningArrays(heir, 1);

    // The reader of its output is gone: it stops cleanly.
    heir.process.stdout?.destroy();
    heir.process.stderr?.destroy();
    assert.equal(await heir.stop(), 0);
    assert.doesNotMatch(readFileSync(join(copyDir, 'granary.log'), 'utf8'), /EPIPE/);
  },
);
