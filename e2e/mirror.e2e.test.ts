import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ArrayClient } from '@granary/client';
import { until } from '../testing/waiting.ts';
import { Random } from '../testing/random.ts';
import { ArrayPair } from './array-pair.ts';
import { attach, type Disk } from './block-array.ts';

/**
 * Goal: a mirror between two arrays goes on from where it stopped, whatever is cut off or killed, and its destination
 * never shows anything but a whole snapshot of its source.
 * Method: 96 MB travel slowly over a cable that counts; in the middle of that the cable is cut and each of the arrays is
 * killed. Then a round of what was written meanwhile, and one in the middle of which the mirror is broken.
 */
const isTorture = process.env['GRANARY_TORTURE'] === '1';
const seeds = isTorture ? 20 : 1;
const firstSeed = Number(process.env['GRANARY_SEED'] ?? Date.now() % 1_000_000);
const MEGABYTE = 2 ** 20;
const VOLUME_MB = 112;
const DATA_MB = 96;
const LIMIT_KB = 16 * 1024;
/** The most that one request carries. */
const REQUEST_BYTES = 4 * MEGABYTE;
/** Questions and answers, headers and seals. */
const OVERHEAD_BYTES = MEGABYTE / 2;
const DEVICE_IDENTIFICATION = 0x83;

for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
  test(`a mirror goes on from where it was interrupted, and breaks to a whole snapshot (GRANARY_SEED=${seed})`, (t) =>
    mirrorStory(t, new Random(seed)));
}

type Interruption = (pair: ArrayPair, job: string) => Promise<void>;

const interruptions: Readonly<Record<string, Interruption>> = {
  'the cable is cut': async (pair, job) => {
    pair.relay.cut();
    await pair.reaches(job, /^Disconnected$/);
    pair.relay.mend();
  },
  'the source is killed': async (pair) => {
    await pair.kill('source');
    await pair.startAgain('source');
  },
  'the destination is killed': async (pair, job) => {
    await pair.kill('destination');
    await pair.reaches(job, /^Disconnected$/);
    await pair.startAgain('destination');
  },
};

async function mirrorStory(t: TestContext, random: Random): Promise<void> {
  const pair = await ArrayPair.start(t);
  const { relay } = pair;
  const { vol_name: volume } = await pair.source.volumes.create({
    name: 'books',
    capacity: VOLUME_MB,
    pool: pair.pool,
  });
  const { disk } = await attach(pair.source, volume);
  const { job, copy } = await pair.mirror(volume, 'copy');
  await shipped(pair, copy, 'by hand (first)');
  await pair.source.mirrorJobs.setRateLimit({ id: job, limit: LIMIT_KB });
  const content = Buffer.alloc(VOLUME_MB * MEGABYTE);
  const write = async (atMb: number, megabytes: number) => {
    const bytes = randomBytes(megabytes * MEGABYTE);
    await disk.write(atMb * MEGABYTE, bytes);
    bytes.copy(content, atMb * MEGABYTE);
  };

  await write(0, DATA_MB);
  const first = Buffer.from(content);
  const before = relay.bytes;
  await snapshot(pair, volume, 'first');
  const order = interruptionsOf(random);
  for (const [index, name] of order.entries()) {
    // Somewhere in a part of its own, and never so late that the round is over before anyone looks.
    const atMb = ((index + 0.2 + random.below(60) / 100) * (DATA_MB * 0.7)) / order.length;
    await relay.reached(before + Math.floor(atMb * MEGABYTE));
    // While a request travels, or while it is being answered.
    if (random.below(2) === 0) await sleep(random.below(40));
    const travelled = relay.bytes - before;
    await interruptions[name]?.(pair, job);
    await pair.reaches(job, /^Syncing \d+%$/);
    t.diagnostic(`${name} after ${megabytesIn(travelled)} MB`);
    await write(5 + index * 16, 1);
  }
  await shipped(pair, copy, 'first');
  await pair.reaches(job, /^Idle$/);
  const sent = relay.bytes - before;
  t.diagnostic(`${megabytesIn(sent)} MB travelled for ${DATA_MB} MB`);
  assert.ok(sent > DATA_MB * MEGABYTE, `${sent}`);
  assert.ok(sent < DATA_MB * MEGABYTE + order.length * REQUEST_BYTES + OVERHEAD_BYTES, `${sent}`);
  const copied = await contentOf(pair.destination, copy, 'first');
  assert.ok(copied.equals(first), 'what was written meanwhile is not part of the round');
  assert.ok(copied.equals(await contentOf(pair.source, volume, 'first')));

  await write(DATA_MB, 2);
  const second = Buffer.from(content);
  const secondFrom = relay.bytes;
  await snapshot(pair, volume, 'second');
  await shipped(pair, copy, 'second');
  const changed = (order.length + 2) * MEGABYTE;
  const secondSent = relay.bytes - secondFrom;
  t.diagnostic(`${megabytesIn(secondSent)} MB travelled for ${megabytesIn(changed)} MB that had changed`);
  assert.ok(secondSent > changed && secondSent < changed + OVERHEAD_BYTES, `${secondSent}`);

  await pair.reaches(job, /^Idle$/);
  await write(0, 40);
  await pair.source.mirrorJobs.setRateLimit({ id: job, limit: LIMIT_KB / 8 });
  const thirdFrom = relay.bytes;
  await snapshot(pair, volume, 'third');
  const breakAt = (2 + random.below(4)) * MEGABYTE;
  await until(async () => relay.bytes - thirdFrom > breakAt, 'the third round is under way');
  assert.match(await pair.status(job), /^Syncing \d+%$/);
  assert.ok((await contentOf(pair.destination, copy)).equals(second), 'a clone is never of half a round');
  assert.match(await pair.status(job), /^Syncing \d+%$/);
  await pair.source.mirrorJobs.break({ id: job, inherited: true });
  if (random.below(2) === 0) {
    t.diagnostic('the destination is killed while it breaks');
    await pair.kill('destination');
    await pair.startAgain('destination');
  }
  assert.equal(await pair.status(job), 'Broken');
  await until(async () => {
    const { volume: record } = await pair.destination.volumes.get({ id: copy });
    return record.has_mirror === 'NO';
  }, 'the copy is a volume like any other');
  const { disk: restored } = await attach(pair.destination, copy);
  const kept = await restored.read(0, VOLUME_MB * MEGABYTE);
  assert.ok(kept.equals(second), 'the destination is the last snapshot that came whole');
  assert.ok(kept.equals(await contentOf(pair.source, volume, 'second')));
  const identity = await identityOf(disk);
  assert.ok(identity.length > 0);
  assert.deepEqual(await identityOf(restored), identity, 'servers know the disk again');
  assert.ok((await disk.read(0, VOLUME_MB * MEGABYTE)).equals(content), 'the source is what it was');
}

/** Each once, in any order; in a long run any of them, more often. */
function interruptionsOf(random: Random): string[] {
  const names = Object.keys(interruptions);
  if (isTorture && random.below(2) === 0) {
    return Array.from({ length: 4 + random.below(3) }, () => random.pick(names) ?? '');
  }
  return names
    .map((name) => ({ name, at: random.below(1000) }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ name }) => name);
}

async function snapshot(pair: ArrayPair, volume: string, name: string): Promise<void> {
  const { cg_name } = (await pair.source.volumes.get({ id: volume })).volume;
  await pair.source.snapshots.create({ volume_cg_id: cg_name, display_name: name });
}

async function snapshotNamed(array: ArrayClient, volume: string, name: string) {
  const { cg_name } = (await array.volumes.get({ id: volume })).volume;
  const { snapshots } = await array.snapshots.listOfGroup({ volume_cg_id: cg_name });
  return { cg_name, snapshot: snapshots.find(({ display_name }) => display_name === name) };
}

async function shipped(pair: ArrayPair, copy: string, name: string): Promise<void> {
  const isThere = async () => (await snapshotNamed(pair.destination, copy, name)).snapshot !== undefined;
  await until(isThere, `snapshot ${name} is at the destination`, 120_000);
}

/** What a snapshot holds, or the volume itself, read over iSCSI from a clone that is gone afterwards. */
async function contentOf(array: ArrayClient, volume: string, name = ''): Promise<Buffer> {
  const { cg_name, snapshot: found } = await snapshotNamed(array, volume, name);
  const clone = { volume_cg_id: cg_name, name: `look at ${volume} ${name}` };
  await array.consistencyGroups.clone({ ...clone, ...(found && { snapshot: found.name }) });
  const made = (await array.volumes.list({ display_name: clone.name })).volumes[0];
  assert.ok(made);
  const { server, disk } = await attach(array, made.name);
  const content = await disk.read(0, VOLUME_MB * MEGABYTE);
  await array.volumes.detach({ id: made.name, servers: [server], force: true });
  await array.volumes.delete({ id: made.name, timeout: 60 });
  return content;
}

/** What a server tells the unit by: the designators of the unit itself, not those of the port it is reached at. */
async function identityOf(disk: Disk): Promise<string[]> {
  const { session, unit } = await disk.session();
  const page = await unit.inquiry(DEVICE_IDENTIFICATION);
  await session.close();
  const found: string[] = [];
  for (let at = 4; at < page.length; at += 4 + page.readUInt8(at + 3)) {
    const association = (page.readUInt8(at + 1) >> 4) & 3;
    if (association === 0) found.push(page.toString('hex', at, at + 4 + page.readUInt8(at + 3)));
  }
  return found;
}

function megabytesIn(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(1);
}
