import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { temporaryFolder } from '../../testing/folders.ts';
import { LineProcess } from '../../testing/line-process.ts';
import { until } from '../../testing/waiting.ts';
import { Vault } from '../auth/vault.ts';
import { ManualClock, systemClock } from '../clock.ts';
import { EventLog } from '../events/events.ts';
import { createLog } from '../log.ts';
import { WHOLE } from '../records/paging.ts';
import { Store } from '../store/index.ts';
import { temporaryStore } from '../testing/temporary-store.ts';
import { Sessions } from './sessions.ts';

const MINUTE = 60_000;
const jo = { user: 'user:1', ip: '192.0.2.1', userAgent: 'Browser/1' };

function setUp(t: TestContext, place = 'test') {
  const store = temporaryStore(t);
  const clock = new ManualClock('2026-01-01T00:00:00Z');
  const events = new EventLog(clock);
  const tools = { store, clock, events, vault: new Vault(Buffer.alloc(32, 7)), log: createLog('test', 'silent') };
  const sessions = new Sessions(tools, () => place);
  const ended: number[] = [];
  sessions.onEnded((id) => ended.push(id));
  const begin = async (who = jo) => {
    const { session, value } = await sessions.begin(who, () => undefined);
    return { id: session.id, value, cookie: `granary_${place}=${value}`, csrf: sessions.csrfToken(session.id) };
  };
  const ask = (headers: Record<string, string>, method = 'GET', service = sessions) =>
    service.find({ headers, socket: {} as Socket, method })?.id;
  return { tools, store, clock, sessions, ended, begin, ask };
}

test('the cookie of a session names it among other cookies, and only a hash of it is stored', async (t) => {
  const { begin, ask, store } = setUp(t);
  const { id, value, cookie } = await begin();
  assert.equal(ask({ cookie }), id);
  assert.equal(ask({ cookie: `theme=dark; ${cookie}; x` }), id);
  assert.equal(ask({ cookie: `__Host-${cookie}` }), id);
  for (const wrong of [
    '',
    'granary_test=',
    `granary_test=${value}x`,
    `granary_test=${value.slice(1)}`,
    `other=${value}`,
  ])
    assert.equal(ask({ cookie: wrong }), undefined, wrong);
  const rows = JSON.stringify(store.read((db) => db.all('SELECT * FROM sessions')));
  assert.ok(!rows.includes(value));
});

test('a session of one service says nothing in another at the same host', async (t) => {
  const { begin, ask, tools } = setUp(t);
  const { cookie } = await begin();
  assert.equal(ask({ cookie }, 'GET', new Sessions(tools, () => 'array_vsa-00000001')), undefined);
  const foreign = setUp(t);
  assert.equal(foreign.ask({ cookie }), undefined);
});

test('a change needs the token of its own session', async (t) => {
  const { begin, ask } = setUp(t);
  const [one, other] = [await begin(), await begin()];
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    assert.throws(() => ask({ cookie: one.cookie }, method), { entry: 'csrf_token_needed' });
    assert.throws(() => ask({ cookie: one.cookie, 'x-csrf-token': other.csrf }, method), {
      entry: 'csrf_token_needed',
    });
    assert.throws(() => ask({ cookie: one.cookie, 'x-csrf-token': '' }, method), { entry: 'csrf_token_needed' });
    assert.equal(ask({ cookie: one.cookie, 'x-csrf-token': one.csrf }, method), one.id);
  }
  assert.equal(ask({ cookie: one.cookie }, 'HEAD'), one.id);
});

test('a change comes from a page of the same origin, where the browser says from where', async (t) => {
  const { begin, ask } = setUp(t);
  const { cookie, csrf, id } = await begin();
  const from = (headers: Record<string, string>) =>
    ask({ cookie, 'x-csrf-token': csrf, host: 'granary.example:8080', ...headers }, 'POST');
  assert.equal(from({ 'sec-fetch-site': 'same-origin' }), id);
  assert.equal(from({ origin: 'http://granary.example:8080' }), id);
  assert.equal(from({ origin: 'https://GRANARY.example:8080' }), id);
  for (const foreign of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'http://granary.example:9090' },
    { origin: 'null' },
    { origin: 'http://evil.example' },
  ])
    assert.throws(() => from(foreign), { entry: 'foreign_page' });
});

test('a session ends after its idle time without a request, and a request begins it anew', async (t) => {
  const { begin, ask, clock, sessions, ended } = setUp(t);
  const { cookie, id } = await begin();
  for (let request = 0; request < 5; request += 1) {
    clock.advance(29 * MINUTE);
    assert.equal(ask({ cookie }), id);
  }
  clock.advance(30 * MINUTE);
  assert.equal(ask({ cookie }), undefined);
  await sessions.sweep();
  assert.deepEqual(ended, [id]);
  assert.equal(sessions.list(null, WHOLE).count, 0);
});

test('what a page asks for by itself, and a stream of events, keep no session going', async (t) => {
  const { begin, ask, clock } = setUp(t);
  const { cookie, id, csrf } = await begin();
  const byItself = [{ 'x-unattended': '1' }, { accept: 'text/event-stream' }];
  for (const headers of byItself) {
    clock.advance(14 * MINUTE);
    assert.equal(ask({ cookie, ...headers }), id);
  }
  clock.advance(MINUTE);
  // A change is somebody's doing, whatever is said of it.
  assert.equal(ask({ cookie, 'x-csrf-token': csrf, 'x-unattended': '1' }, 'POST'), id);
  clock.advance(29 * MINUTE);
  assert.equal(ask({ cookie, 'x-unattended': '1' }), id);
  clock.advance(MINUTE);
  assert.equal(ask({ cookie }), undefined);
});

test('a session ends after its hours, however busy it is', async (t) => {
  const { begin, ask, clock, sessions, ended } = setUp(t);
  const { cookie, id } = await begin();
  for (let minutes = 0; minutes < 12 * 60; minutes += 20) {
    assert.equal(ask({ cookie }), id);
    clock.advance(20 * MINUTE);
  }
  assert.equal(ask({ cookie }), undefined);
  await sessions.sweep();
  assert.deepEqual(ended, [id]);
});

test('new limits count for open sessions, and bring none back that ended', async (t) => {
  const { begin, ask, clock, sessions } = setUp(t);
  const old = await begin();
  clock.advance(31 * MINUTE);
  const { cookie, id } = await begin();
  await sessions.changeLimits({ idleMinutes: 60, hoursMax: 2 }, 'admin');
  assert.equal(ask({ cookie: old.cookie }), undefined);
  clock.advance(59 * MINUTE);
  assert.equal(ask({ cookie }), id);
  clock.advance(59 * MINUTE);
  assert.equal(ask({ cookie }), id);
  await sessions.changeLimits({ idleMinutes: 60, hoursMax: 1 }, 'admin');
  assert.equal(ask({ cookie }), undefined);
});

test('the last use of a session is written once a minute at most, and outlives a restart', async (t) => {
  const { begin, ask, clock, store, tools } = setUp(t);
  const { cookie, id } = await begin();
  const written = () => store.read((db) => db.get<{ seen_at: number }>('SELECT seen_at FROM sessions'))?.seen_at;
  const first = written();
  clock.advance(59_000);
  ask({ cookie });
  await store.write(() => undefined);
  assert.equal(written(), first);
  clock.advance(2_000);
  ask({ cookie });
  await store.write(() => undefined);
  assert.equal(written(), clock.now());
  clock.advance(29 * MINUTE);
  assert.equal(ask({ cookie }, 'GET', new Sessions(tools, () => 'test')), id);
});

test('what takes the rights of a user ends the sessions, of nobody else, and only when it is durable', async (t) => {
  const { begin, ask, sessions, store, ended } = setUp(t);
  const [one, two] = [await begin(), await begin()];
  const other = await begin({ ...jo, user: 'user:2' });
  await assert.rejects(
    store.write((tx) => {
      sessions.endOfUser(tx, jo.user);
      throw new Error('no');
    }),
  );
  assert.deepEqual([ended, ask({ cookie: one.cookie })], [[], one.id]);
  await store.write((tx) => sessions.endOfUser(tx, jo.user, two.id));
  assert.deepEqual([ended, ask({ cookie: one.cookie }), ask({ cookie: two.cookie })], [[one.id], undefined, two.id]);
  await store.write((tx) => sessions.endOfUser(tx, jo.user));
  assert.deepEqual([ended, ask({ cookie: other.cookie })], [[one.id, two.id], other.id]);
});

test('rights that change are announced once that is durable, with the session that keeps what it has open', async (t) => {
  const { begin, ask, sessions, store, ended } = setUp(t);
  const [one, two] = [await begin(), await begin()];
  const announced: unknown[] = [];
  sessions.onRightsChanged((user, except) => announced.push([user, except, [...ended]]));
  const undone = store.write((tx) => {
    sessions.signOut(tx, jo.user);
    throw new Error('no');
  });
  await assert.rejects(undone);
  assert.deepEqual(announced, []);
  await store.write((tx) => sessions.rightsChanged(tx, jo.user));
  assert.deepEqual([announced.splice(0), ask({ cookie: one.cookie })], [[[jo.user, undefined, []]], one.id]);
  await store.write((tx) => sessions.signOut(tx, jo.user, two.id));
  assert.deepEqual(announced, [[jo.user, two.id, [one.id]]]);
  assert.deepEqual([ask({ cookie: one.cookie }), ask({ cookie: two.cookie })], [undefined, two.id]);
});

test('a user has twenty sessions at most: the one that was silent longest makes room', async (t) => {
  const { begin, ask, clock, ended } = setUp(t);
  const all = [];
  for (let made = 0; made < 20; made += 1) {
    all.push(await begin());
    clock.advance(1_000);
  }
  ask({ cookie: all[0]!.cookie });
  await begin();
  assert.deepEqual(ended, [all[1]!.id]);
});

test('the cookie is read by no script and sent by no other site, and over TLS no other service can plant one', (t) => {
  const { sessions } = setUp(t);
  const plain = 'granary_test=abc; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200';
  assert.equal(sessions.cookie('abc', false), plain);
  assert.equal(sessions.cookie('abc', true), `__Host-${plain}; Secure`);
  assert.match(sessions.expiredCookie(true), /^__Host-granary_test=; .*Max-Age=0; Secure$/);
});

test('after kill -9 every session that was acknowledged is there, and none that was signed out', async (t) => {
  const file = join(temporaryFolder(t), 'test.db');
  const signer = new LineProcess(new URL('./testing/signer.ts', import.meta.url), file);
  await until(() => signer.lines.length >= 40);
  await signer.kill();
  const store = new Store(file, { component: 'test', steps: [] }, 5_000);
  t.after(() => store.close());
  const parts = { store, clock: systemClock, events: new EventLog(systemClock), log: createLog('test', 'silent') };
  const sessions = new Sessions({ ...parts, vault: new Vault(Buffer.alloc(32, 7)) }, () => 'test');
  const isThere = (value: string) =>
    sessions.find({ headers: { cookie: `granary_test=${value}` }, socket: {} as Socket, method: 'GET' }) !== undefined;
  for (const line of signer.lines) {
    const [what, value = ''] = line.split(' ');
    assert.equal(isThere(value), what === 'in', line);
  }
});
