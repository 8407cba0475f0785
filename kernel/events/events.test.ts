import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../clock.ts';
import { temporaryStore } from '../testing/temporary-store.ts';
import { EventLog, LOGIN, type EventFilter } from './events.ts';

const all: EventFilter = { start: 0, limit: 0 };

function bench(t: Parameters<typeof temporaryStore>[0]) {
  const store = temporaryStore(t);
  const clock = new ManualClock('2026-01-01T00:00:00Z');
  const events = new EventLog(clock);
  const list = (filter: EventFilter) => store.read((db) => events.list(db, filter));
  const titles = (filter: EventFilter) => list(filter).messages.map((message) => message.msg_title);
  return { store, clock, events, list, titles };
}

test('an event has the fields of the specification', async (t) => {
  const { store, events, list } = bench(t);
  await store.write((tx) => {
    events.record(tx, { title: 'Drive failed.', subject: 'drive:1', severity: 'error', actor: 'ada' });
  });
  assert.deepEqual(list(all), {
    messages: [{ msg_id: '1', msg_title: 'Drive failed.', msg_severity: '3', msg_time: '2026-01-01 00:00:00 UTC' }],
    count: 1,
  });
});

test('an event is there exactly if the change it tells of is', async (t) => {
  const { store, events, titles } = bench(t);
  const undone = store.write((tx) => {
    events.record(tx, { title: 'Undone.', subject: 'volume:1' });
    throw new Error('as asked');
  });
  await assert.rejects(undone);
  assert.deepEqual(titles(all), []);
});

test('the newest come first, a page at a time, and the count is of all', async (t) => {
  const { store, events, titles, list } = bench(t);
  await store.write((tx) => {
    for (let n = 1; n <= 5; n++) events.record(tx, { title: `${n}`, subject: 'volume:1' });
  });
  assert.deepEqual(titles(all), ['5', '4', '3', '2', '1']);
  assert.deepEqual(titles({ start: 1, limit: 2 }), ['4', '3']);
  assert.deepEqual(titles({ start: 3, limit: 0 }), ['2', '1']);
  assert.deepEqual(titles({ ...all, oldestFirst: true, limit: 2 }), ['1', '2']);
  assert.equal(list({ start: 4, limit: 2 }).count, 5);
});

test('events are chosen by how bad they are and what they happened to', async (t) => {
  const { store, events, titles, list } = bench(t);
  await store.write((tx) => {
    for (const severity of ['error', 'warning', 'notice', 'info'] as const) {
      events.record(tx, { title: `${severity} a`, subject: 'a', severity });
      events.record(tx, { title: `${severity} b`, subject: 'b', severity });
    }
  });
  assert.deepEqual(titles({ ...all, severityMax: 4, subject: 'a' }), ['warning a', 'error a']);
  assert.equal(list({ ...all, severityMax: 4, limit: 1 }).count, 4);
  assert.deepEqual(titles({ ...all, severityMax: 2 }), []);
});

test('the log keeps its newest hundred thousand events', async (t) => {
  const { store, events, list } = bench(t);
  await store.write((tx) => {
    for (let n = 1; n <= 100_100; n++) events.record(tx, { title: `${n}`, subject: 'volume:1' });
  });
  const { messages, count } = list({ start: 0, limit: 1, oldestFirst: true });
  assert.deepEqual([messages[0]?.msg_title, count], ['101', 100_000]);
});

test('logins are a kind of their own: a list leaves them out unless they are asked for, and shows refused ones', async (t) => {
  const { store, events, titles } = bench(t);
  await store.write((tx) => {
    events.record(tx, { title: 'login', subject: 'server:1', kind: LOGIN });
    events.record(tx, { title: 'refused', subject: 'logins', kind: LOGIN, severity: 'warning' });
    events.record(tx, { title: 'server', subject: 'server:1' });
    events.record(tx, { title: 'pool', subject: 'pool:1' });
  });
  assert.deepEqual(titles(all), ['pool', 'server', 'refused']);
  assert.deepEqual(titles({ ...all, kind: 'login' }), ['refused', 'login']);
  assert.deepEqual(titles({ ...all, kind: 'all' }), ['pool', 'server', 'refused', 'login']);
  assert.deepEqual(titles({ ...all, kind: 'pool' }), ['pool']);
  assert.deepEqual(titles({ ...all, subject: 'server:1' }), ['server', 'login']);
});

test('logins do not displace other events: the newest ten thousand of them are kept', async (t) => {
  const { store, events, list } = bench(t);
  await store.write((tx) => {
    events.record(tx, { title: 'first', subject: 'pool:1' });
    for (let n = 1; n < 12_000; n++) events.record(tx, { title: `${n}`, subject: 'server:1', kind: LOGIN });
  });
  assert.equal(list({ ...all, kind: 'login', limit: 1 }).count, 10_000);
  assert.equal(list({ ...all, limit: 1 }).count, 1);
});
