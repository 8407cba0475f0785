import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { endpoint, success, type Access, type Api } from '@granary/contract';
import { changeEndpoints } from '../../contract/changes.ts';
import { text } from '../../contract/params.ts';
import { turns } from '../../testing/turns.ts';
import { until } from '../../testing/waiting.ts';
import { Vault } from '../auth/vault.ts';
import { ManualClock } from '../clock.ts';
import { fail } from '../errors.ts';
import { EventLog, LOGIN } from '../events/events.ts';
import { Jobs } from '../jobs/jobs.ts';
import { createLog } from '../log.ts';
import { temporaryStore } from '../testing/temporary-store.ts';
import { ChangeDetector } from './change-detector.ts';
import { ChangeFeed, changeRoutes, type ChangeFeedOptions } from './change-feed.ts';
import { createApiServer, Submitted, type Actor } from './index.ts';

const everyone: Access = { roles: ['member', 'admin'] };
const api = {
  name: 'test',
  title: 'Test',
  description: 'For tests.',
  dialect: 'array',
  asyncStatus: 1073751835,
  groups: {
    changes: changeEndpoints(everyone),
    things: {
      list: endpoint('GET', '/things', { summary: 'List', access: everyone, reply: success({}) }),
      create: endpoint('POST', '/things', {
        summary: 'Create',
        access: everyone,
        params: { name: text('Its name') },
        reply: success({}),
      }),
      grow: endpoint('PUT', '/things', { summary: 'Grow', access: everyone, reply: success({}) }),
    },
  },
} as const satisfies Api;

const concerns = {
  kinds: { thing: ['things'], part: ['parts'] },
  related: { things: ['parts'] },
  events: 'messages',
};
const actors = new Map<unknown, Actor>([
  ['member', { id: 'user:1', role: 'member' }],
  ['session', { id: 'user:2', role: 'member', sessionId: 1 }],
  ['admin', { id: 'user:3', role: 'admin' }],
]);

/** A feed on a clock and a timer of the test. */
function feedOf(t: TestContext, limits?: ChangeFeedOptions['limits']) {
  const store = temporaryStore(t);
  const clock = new ManualClock('2026-01-01T00:00:00Z');
  const events = new EventLog(clock);
  const jobs = new Jobs({ store, clock, log: createLog('test', 'silent') });
  const due: { action: () => void; ms: number }[] = [];
  const feed = new ChangeFeed({
    events,
    jobs,
    clock,
    concerns,
    mayListEvents: ({ role }) => role === 'admin',
    schedule: (action, ms) => {
      due.push({ action, ms });
      return () => undefined;
    },
    ...(limits && { limits }),
  });
  t.after(() => feed.close());
  const follow = (who: string) => {
    const { stream } = feed.open({ actor: actors.get(who) as Actor });
    const chunks: string[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
    const received = async () => {
      await turns(3);
      return messagesIn(chunks.join(''));
    };
    return { stream, received };
  };
  /** Runs the timer that is set, and says for how long it was. */
  const fire = () => {
    const { action, ms } = due.shift() ?? assert.fail('no timer is set');
    clock.advance(ms);
    action();
    return ms;
  };
  return { store, clock, events, jobs, feed, due, follow, fire };
}

interface Received {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

function messagesIn(sent: string): Received[] {
  const found = sent.matchAll(/^event: (\w+)\ndata: (.*)\n\n/gm);
  return [...found].map(([, event = '', data = '']) => ({ event, data: JSON.parse(data) as Received['data'] }));
}

const changed = (...groups: string[]): Received => ({ event: 'changed', data: { groups } });

test('changes of a second are one message, with the groups that change along', async (t) => {
  const { feed, follow, fire, due, clock } = feedOf(t);
  const { received } = follow('member');
  feed.publish('others');
  assert.equal(fire(), 0, 'the first is sent at once');
  clock.advance(400);
  for (let n = 0; n < 100; n++) feed.publish('things', 'others');
  assert.equal(due.length, 1);
  assert.equal(fire(), 600);
  assert.deepEqual(await received(), [changed('others'), changed('others', 'parts', 'things')]);
  clock.set('2025-01-01T00:00:00Z');
  feed.publish('things');
  assert.equal(fire(), 1_000, 'a clock that was set back delays nothing for longer');
});

test('while nobody follows nothing is kept, read or scheduled', async (t) => {
  const { feed, follow, store, events, due } = feedOf(t);
  const detector = new ChangeDetector(feed);
  feed.publish('things');
  await store.write((tx) => events.record(tx, { title: 'A.', subject: 'thing:1' }));
  detector.compare(() => assert.fail('nobody follows'));
  assert.equal(due.length, 0);
  const { stream } = follow('member');
  assert.ok(feed.isWatched);
  stream.destroy();
  await once(stream, 'close');
  assert.ok(!feed.isWatched);
});

test('an event is sent once it is durable to those who may list events; others learn the groups', async (t) => {
  const { follow, fire, store, events } = feedOf(t);
  const [admin, member] = [follow('admin'), follow('member')];
  const undone = store.write((tx) => {
    events.record(tx, { title: 'Undone.', subject: 'part:1' });
    throw new Error('as asked');
  });
  await assert.rejects(undone);
  await store.write((tx) => {
    events.record(tx, { title: 'Plain login.', subject: 'thing:1', kind: LOGIN });
    events.record(tx, { title: 'It grew.', subject: 'thing:1', severity: 'notice' });
  });
  fire();
  const event = {
    event: 'event',
    data: { msg_id: '2', msg_title: 'It grew.', msg_severity: '5', msg_time: '2026-01-01 00:00:00 UTC' },
  };
  const groups = changed('messages', 'parts', 'things');
  assert.deepEqual(await admin.received(), [event, groups]);
  assert.deepEqual(await member.received(), [groups]);
});

test('of many events in a second the first are sent; the list has the rest', async (t) => {
  const { follow, fire, store, events } = feedOf(t);
  const { received } = follow('admin');
  const record = () =>
    store.write((tx) => {
      for (let n = 0; n < 200; n++) events.record(tx, { title: `${n}.`, subject: 'thing:1' });
    });
  await record();
  fire();
  assert.equal((await received()).filter(({ event }) => event === 'event').length, 50);
  await record();
  fire();
  assert.equal((await received()).filter(({ event }) => event === 'event').length, 100);
});

test('a job that starts, gets on and ends names the groups of its subject', async (t) => {
  const { follow, fire, due, store, jobs } = feedOf(t);
  const { received } = follow('member');
  const gates = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()] as const;
  jobs.register('work', async (job) => {
    await gates[0].promise;
    await job.save(50, 'half');
    await gates[1].promise;
    return { outcome: 'done' };
  });
  await jobs.start();
  t.after(() => jobs.stop());
  await store.write((tx) => jobs.enqueue(tx, 'work', 'part:1', null));
  for (const gate of [...gates, undefined]) {
    await until(() => due.length > 0);
    fire();
    gate?.resolve(undefined);
  }
  assert.deepEqual(await received(), [changed('parts'), changed('parts'), changed('parts')]);
});

test('streams of a user whose rights changed end, but for those of the session that is named', async (t) => {
  const { feed, follow } = feedOf(t);
  const [member, session] = [follow('member').stream, follow('session').stream];
  feed.endUser('user:1');
  feed.endUser('user:2', 1);
  await until(() => member.destroyed);
  assert.ok(!session.destroyed && !session.readableEnded);
  feed.endUser('user:2');
  await until(() => session.destroyed);
});

test('records that change by themselves are published when they differ from the time before', async (t) => {
  const { feed, follow, fire, due } = feedOf(t);
  const { received } = follow('member');
  const detector = new ChangeDetector(feed);
  for (const state of ['normal', 'normal', 'degraded']) detector.compare(() => ({ groups: [state], pools: [1] }));
  assert.equal(due.length, 1);
  fire();
  assert.deepEqual(await received(), [changed('groups')]);
});

test('streams are limited for each user and in all', (t) => {
  const { follow } = feedOf(t, { streams: 4, perUser: 3 });
  for (let n = 0; n < 3; n++) follow('member');
  assert.throws(
    () => follow('member'),
    /^GranaryError: 3 streams of changes are open, which is the most a user may have/,
  );
  follow('admin');
  assert.throws(() => follow('session'), /4 streams of changes are open, which is the most this service takes/);
});

test('a client that does not read is dropped, and holds nothing up', async (t) => {
  const { feed, fire } = feedOf(t, { unreadBytes: 4_096 });
  const { stream } = feed.open({ actor: actors.get('member') as Actor });
  const closed = once(stream, 'close');
  for (let n = 0; !stream.destroyed; n++) {
    assert.ok(n < 200, 'it is still there');
    feed.publish('things');
    fire();
    assert.ok(stream.readableLength <= 4_096 + 100);
  }
  await closed;
  assert.ok(!feed.isWatched);
});

test('a session that ends says so to its own streams and ends them', async (t) => {
  const { feed, follow, fire } = feedOf(t);
  const [own, other] = [follow('session'), follow('member')];
  const ended = once(own.stream, 'end');
  feed.endSession(1);
  await ended;
  feed.publish('things');
  fire();
  assert.deepEqual(await own.received(), [{ event: 'signed_out', data: {} }]);
  assert.deepEqual(await other.received(), [changed('parts', 'things')]);
});

async function serve(t: TestContext) {
  const bench = feedOf(t);
  const app = await createApiServer({
    ...bench,
    api,
    handlers: {
      changes: changeRoutes(bench.feed),
      things: {
        list: () => ({}),
        create: ({ name }) => {
          if (name === 'taken') throw fail('name_taken', { name });
          return {};
        },
        grow: () => new Submitted(),
      },
    },
    authenticate: ({ headers }) => actors.get(headers['x-token']),
    changes: bench.feed,
    vault: new Vault(Buffer.alloc(32, 7)),
    log: createLog('test', 'silent'),
    version: '1',
  });
  t.after(() => app.close());
  const send = (method: 'GET' | 'POST' | 'PUT', payload?: object) =>
    app.inject({ method, url: '/api/things', headers: { 'x-token': 'admin' }, ...(payload && { payload }) });
  return { ...bench, app, send };
}

test('every operation that succeeded publishes its group; reading and refusals do not', async (t) => {
  const { send, follow, fire, due } = await serve(t);
  const { received } = follow('member');
  await send('GET');
  await send('POST', { name: 'taken' });
  await send('POST', {});
  await turns(3);
  assert.equal(due.length, 0);
  for (const ask of [() => send('POST', { name: 'one' }), () => send('PUT')]) {
    assert.equal((await ask()).statusCode, 200);
    fire();
  }
  assert.deepEqual(await received(), [changed('parts', 'things'), changed('parts', 'things')]);
});

test('a stream is an event stream that ends after the seconds that were asked for', async (t) => {
  const { app, feed } = await serve(t);
  const ask = (query: string, token = 'member') =>
    app.inject({ url: `/api/changes${query}`, headers: { 'x-token': token } });
  for (const seconds of [0, 1]) {
    const { statusCode, headers, body } = await ask(`?seconds=${seconds}`);
    assert.deepEqual([statusCode, headers['content-type']], [200, 'text/event-stream']);
    assert.equal(headers['content-disposition'], undefined);
    assert.match(body, /^: changes follow\n\n/);
  }
  assert.ok(!feed.isWatched);
  assert.match((await ask('', 'nobody')).body, /Invalid credentials/);
});

test('the server stops promptly while streams are open', async (t) => {
  const { app, feed } = await serve(t);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as { port: number };
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.write('GET /api/changes HTTP/1.1\r\nHost: x\r\nX-Token: member\r\n\r\n');
  let read = '';
  socket.on('data', (chunk) => (read += chunk.toString()));
  await until(() => feed.isWatched && read.includes(': changes follow'));
  await app.close();
  await until(() => read.endsWith('0\r\n\r\n'));
  assert.ok(!feed.isWatched);
  assert.throws(() => feed.open({ actor: actors.get('member') as Actor }), /stopping/);
});

test('a client that goes away is forgotten', async (t) => {
  const { app, feed } = await serve(t);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as { port: number };
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /api/changes HTTP/1.1\r\nHost: x\r\nX-Token: member\r\n\r\n');
  await until(() => feed.isWatched);
  socket.destroy();
  await until(() => !feed.isWatched);
});
