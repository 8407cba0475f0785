import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ManualClock } from '@granary/kernel';
import { until } from '../../testing/waiting.ts';
import { startFakeCloud } from '../testing/fake-cloud.ts';
import { refused, startTestPortal, type TestPortal } from '../testing/portal.ts';

/**
 * Goal: an array that does not answer is shown as starting with the reason, and its engine is not billed from when it does
 * not answer until it does, however seldom the portal looks.
 * Method: a cloud that tells what the test says, and a clock that the test moves.
 */
const clock = new ManualClock('2026-03-01T00:00:00Z');
const portal = await startTestPortal({ clock });
after(() => portal.stop());

const { friend, admin, cloud } = portal;
const SECOND = 1_000;
const shown = async (id: number) => (await friend.client.arrays.get({ array_id: id })).data;

interface Span {
  readonly from: number;
  readonly to: number | null;
}

/** From when to when an item of the array was metered, in seconds since the moment. */
function metered({ store }: TestPortal, id: number, kind: string, since: number): Span[] {
  const sql = `SELECT started_at, ended_at FROM metered_items WHERE array_id = :id AND kind = :kind ORDER BY started_at`;
  const rows = store.read((db) => db.all<{ started_at: number; ended_at: number | null }>(sql, { id, kind }));
  const seconds = (time: number) => (time - since) / SECOND;
  return rows.map(({ started_at, ended_at }) => ({
    from: seconds(started_at),
    to: ended_at === null ? null : seconds(ended_at),
  }));
}

async function anArray() {
  const { id, name } = await portal.array(friend);
  const since = clock.now();
  const pass = async (seconds: number) => {
    clock.advance(seconds * SECOND);
    await portal.services.watcher.poll();
  };
  return { id, name, pass, engine: () => metered(portal, id, 'engine', since), since };
}

test('an engine is billed to the moment it stopped answering, and again from the moment it answers', async () => {
  const { id, name, pass, engine, since } = await anArray();
  cloud.setState(name, 'starting', 'It waits for its turn to start (3 arrays wait).', [
    { id: 'a-1', began_ms_ago: 2 * SECOND, ended_ms_ago: null },
  ]);
  await pass(10);
  assert.deepEqual(engine(), [{ from: 0, to: 8 }]);
  assert.equal((await shown(id)).status, 'starting');
  await pass(20);
  cloud.setState(name, 'running', undefined, [{ id: 'a-1', began_ms_ago: 32 * SECOND, ended_ms_ago: 1 * SECOND }]);
  await pass(10);
  assert.equal((await shown(id)).status, 'created');
  await pass(10);
  assert.deepEqual(engine(), [
    { from: 0, to: 8 },
    { from: 39, to: null },
  ]);
  assert.deepEqual(metered(portal, id, 'drive', since), [{ from: 0, to: null }], 'it holds on to its drives');
});

test('outages between two looks are not billed either, each of them once', async () => {
  const { id, name, pass, engine } = await anArray();
  const outages = [
    { id: 'b-1', began_ms_ago: 9 * SECOND, ended_ms_ago: 8 * SECOND },
    { id: 'b-2', began_ms_ago: 5 * SECOND, ended_ms_ago: 3 * SECOND },
  ];
  cloud.setState(name, 'running', undefined, outages);
  await pass(10);
  await pass(0);
  assert.equal((await shown(id)).status, 'created');
  assert.deepEqual(engine(), [
    { from: 0, to: 1 },
    { from: 2, to: 5 },
    { from: 7, to: null },
  ]);
  const { data } = await admin.client.events.list();
  const titles = data.map((event) => event.msg_title).filter((title) => title.startsWith(`Array ${name} did not`));
  assert.deepEqual(titles, [
    `Array ${name} did not answer for 2.0 seconds.`,
    `Array ${name} did not answer for 1.0 seconds.`,
  ]);
});

test('encryption is billed from the moment it was active until it was not, around outages, and each change once', async () => {
  const { id, name, pass, since } = await anArray();
  const encryption = () => metered(portal, id, 'encryption', since);
  cloud.setEncryption(name, [
    { id: 'on-1', active: true, ms_ago: 8 * SECOND },
    { id: 'off-1', active: false, ms_ago: 7 * SECOND },
    { id: 'on-2', active: true, ms_ago: 6 * SECOND },
  ]);
  cloud.setState(name, 'running', undefined, [{ id: 'e-1', began_ms_ago: 5 * SECOND, ended_ms_ago: 3 * SECOND }]);
  await pass(10);
  await pass(0);
  const first = [
    { from: 2, to: 3 },
    { from: 4, to: 5 },
  ];
  assert.deepEqual(encryption(), [...first, { from: 7, to: null }]);
  cloud.setEncryption(name, [
    { id: 'on-2', active: true, ms_ago: 16 * SECOND },
    { id: 'off-2', active: false, ms_ago: 4 * SECOND },
  ]);
  await pass(10);
  assert.deepEqual(encryption(), [...first, { from: 7, to: 16 }]);
});

test('encryption that ended with an outage that was not heard of yet is billed up to the outage', async () => {
  const { id, name, pass, since } = await anArray();
  cloud.setEncryption(name, [{ id: 'on', active: true, ms_ago: 9 * SECOND }]);
  await pass(10);
  cloud.setEncryption(name, [
    { id: 'on', active: true, ms_ago: 19 * SECOND },
    { id: 'off', active: false, ms_ago: 2 * SECOND },
  ]);
  cloud.setState(name, 'running', undefined, [{ id: 'f-1', began_ms_ago: 6 * SECOND, ended_ms_ago: 3 * SECOND }]);
  await pass(10);
  assert.deepEqual(metered(portal, id, 'encryption', since), [
    { from: 1, to: 14 },
    { from: 17, to: 18 },
  ]);
});

test('encryption that came just before an outage, and was heard of after it, is billed up to it and from its end', async () => {
  const { id, name, pass, since } = await anArray();
  cloud.setState(name, 'starting', 'It ended.', [{ id: 'g-1', began_ms_ago: 4 * SECOND, ended_ms_ago: null }]);
  await pass(10);
  cloud.setEncryption(name, [{ id: 'on', active: true, ms_ago: 15 * SECOND }]);
  cloud.setState(name, 'running', undefined, [{ id: 'g-1', began_ms_ago: 14 * SECOND, ended_ms_ago: 2 * SECOND }]);
  await pass(10);
  const spans = [
    { from: 5, to: 6 },
    { from: 18, to: null },
  ];
  assert.deepEqual(metered(portal, id, 'encryption', since), spans);
  assert.deepEqual(metered(portal, id, 'engine', since), [{ from: 0, to: 6 }, spans[1]]);
});

test('encryption that came just before an array was hibernated is billed up to then, and goes on with it', async () => {
  const { id, name, since } = await anArray();
  const encryption = () => metered(portal, id, 'encryption', since);
  clock.advance(10 * SECOND);
  cloud.setEncryption(name, [{ id: 'on', active: true, ms_ago: 4 * SECOND }]);
  await friend.client.arrays.hibernate({ array_id: id });
  await until(async () => (await shown(id)).status === 'hibernated');
  assert.deepEqual(encryption(), [{ from: 6, to: 10 }]);
  clock.advance(10 * SECOND);
  await friend.client.arrays.restore({ array_id: id });
  await until(async () => (await shown(id)).status === 'created');
  assert.deepEqual(encryption(), [
    { from: 6, to: 10 },
    { from: 20, to: null },
  ]);
});

test('an array that was down when its cloud came up has been so since it was last seen', async () => {
  const { name, pass, engine } = await anArray();
  cloud.setState(name, 'running');
  await pass(30);
  cloud.setState(name, 'running', undefined, [{ id: 'c-1', began_ms_ago: null, ended_ms_ago: 5 * SECOND }]);
  await pass(100);
  assert.deepEqual(engine(), [
    { from: 0, to: 30 },
    { from: 125, to: null },
  ]);
});

test('the time in which the portal itself was down is not billed where its arrays were, too', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'granary-portal-'));
  t.after(() => rmSync(dataDir, { recursive: true }));
  const own = await startFakeCloud();
  t.after(() => own.stop());
  const first = await startTestPortal({ clock, cloud: own, dataDir });
  const { id, name } = await first.array(first.friend);
  const since = clock.now();
  clock.advance(3 * SECOND);
  await first.services.watcher.poll();
  clock.advance(7 * SECOND);
  await first.services.watcher.poll();
  await first.stop();
  clock.advance(3_600 * SECOND);
  own.setState(name, 'running', undefined, [{ id: 'd-1', began_ms_ago: null, ended_ms_ago: 2 * SECOND }]);
  const second = await startTestPortal({ clock, cloud: own, dataDir });
  t.after(() => second.stop());
  await second.services.watcher.poll();
  assert.deepEqual(metered(second, id, 'engine', since), [
    { from: 0, to: 10 },
    { from: 3_608, to: null },
  ]);
});

test('while an array starts it can be changed, hibernated, restored and deleted', async () => {
  const { id, name, pass } = await anArray();
  const away = () => cloud.setState(name, 'starting', 'Its process is started again in 60 seconds; before, it broke.');
  away();
  await pass(3);
  await friend.client.arrays.addDrives({ array_id: id, drives: { SSD_10GB: 1 }, moderate: false } as never);
  assert.equal((await friend.client.arrays.list({ status: 'starting', name })).data.length, 1);
  await friend.client.arrays.hibernate({ array_id: id });
  await portal.until(id, 'hibernated');
  await friend.client.arrays.restore({ array_id: id });
  await portal.until(id, 'created');
  away();
  await pass(3);
  await friend.client.arrays.restore({ array_id: id });
  cloud.setState(name, 'running');
  await portal.until(id, 'created');
  away();
  await pass(3);
  await friend.client.arrays.delete({ array_id: id });
  await portal.until(id, 'deleted');
  await refused(friend.client.arrays.hibernate({ array_id: id }), 409, /is deleted/);
});

test('an array that serves but cannot be managed says so, and is billed', async () => {
  const { id, name, pass, engine } = await anArray();
  cloud.setState(name, 'running', 'its management does not answer; its data path works');
  await pass(3);
  const silent = await shown(id);
  assert.deepEqual(
    [silent.status, silent.status_message],
    ['created', 'Its cloud says: its management does not answer; its data path works.'],
  );
  cloud.setState(name, 'running');
  await pass(3);
  assert.equal((await shown(id)).status_message, null);
  assert.deepEqual(engine(), [{ from: 0, to: null }]);
});
