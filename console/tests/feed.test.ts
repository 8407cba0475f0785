import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RECONNECT_MS, Streams, STREAMS_MAX, UNWATCHED_MS, type FeedMessage } from '../src/api/feed/streams.ts';
import { Tab, type Delivery } from '../src/api/feed/tabs.ts';

/** Goal: however many tabs and arrays are looked at, a few streams are open, and every tab receives what it follows. */

class FakeSource {
  readyState = 0;
  readonly #listeners = new Map<string, (event: { data?: unknown }) => void>();

  addEventListener(type: string, listener: (event: { data?: unknown }) => void): void {
    this.#listeners.set(type, listener);
  }

  emit(type: string, data?: object): void {
    this.#listeners.get(type)?.({ data: data && JSON.stringify(data) });
  }

  close(): void {
    this.readyState = 2;
  }
}

function start() {
  const opened = new Map<string, FakeSource>();
  const due = new Map<() => void, number>();
  const streams = new Streams({
    open: (url) => {
      const source = new FakeSource();
      opened.set(url.replace('/api/changes', ''), source);
      return source;
    },
    schedule: (action, ms) => {
      due.set(action, ms);
      return () => due.delete(action);
    },
  });
  return {
    streams,
    open: () => [...opened].filter(([, { readyState }]) => readyState !== 2).map(([base]) => base),
    source: (base: string) => opened.get(base) as FakeSource,
    waiting: () => [...due.values()],
    pass: () => {
      for (const action of [...due.keys()]) {
        due.delete(action);
        action();
      }
    },
  };
}

function follower() {
  const received: FeedMessage[] = [];
  return {
    received,
    kinds: () => received.map(({ kind }) => kind),
    receive: (message: FeedMessage) => void received.push(message),
  };
}

test('followers of one place share one stream, and it ends with the last of them', () => {
  const { streams, open, source } = start();
  const [first, second] = [follower(), follower()];
  const stops = [streams.follow('', first.receive), streams.follow('', second.receive)];
  source('').emit('open');
  source('').emit('changed', { groups: ['volumes', 7] });
  for (const { received } of [first, second])
    assert.deepEqual(received, [{ kind: 'open' }, { kind: 'changed', groups: ['volumes'] }]);
  const late = follower();
  stops.push(streams.follow('', late.receive));
  assert.deepEqual(late.kinds(), ['open'], 'the stream is open already');
  assert.deepEqual(open(), ['']);
  for (const stop of stops) stop();
  assert.deepEqual(open(), []);
});

test('the service and the arrays looked at last have streams; the others are read anew at intervals', () => {
  const { streams, open, waiting, pass } = start();
  const places = ['/via/1', '/via/2', '', '/via/3', '/via/4'];
  const followers = new Map(places.map((base) => [base, follower()]));
  const stops = new Map(places.map((base) => [base, streams.follow(base, followers.get(base)?.receive ?? (() => {}))]));
  assert.equal(STREAMS_MAX, 3);
  assert.deepEqual(open().toSorted(), ['', '/via/3', '/via/4']);
  assert.deepEqual(waiting(), [UNWATCHED_MS, UNWATCHED_MS]);
  pass();
  pass();
  const kinds = places.map((base) => followers.get(base)?.kinds());
  assert.deepEqual(kinds, [['unwatched', 'unwatched'], ['unwatched', 'unwatched'], [], [], []]);
  streams.touch('/via/1');
  assert.deepEqual(open().toSorted(), ['', '/via/1', '/via/4']);
  stops.get('/via/4')?.();
  assert.deepEqual(open().toSorted(), ['', '/via/1', '/via/3']);
});

test('a lost stream is said to be lost, a refused one is opened again', () => {
  const { streams, open, source, waiting, pass } = start();
  const one = follower();
  streams.follow('', one.receive);
  source('').emit('open');
  // The browser opens a lost one again by itself.
  source('').emit('error');
  assert.deepEqual(waiting(), []);
  source('').emit('open');
  source('').readyState = 2;
  source('').emit('error');
  assert.deepEqual(waiting(), [RECONNECT_MS]);
  pass();
  assert.deepEqual(open(), ['']);
  source('').emit('open');
  assert.deepEqual(one.kinds(), ['open', 'lost', 'open', 'lost', 'open']);
});

test('a tab follows what it announced last; a silent one follows nothing', () => {
  const { streams, open, source } = start();
  const delivered: Delivery[] = [];
  const tab = new Tab(streams, (one) => void delivered.push(one));
  tab.update({ follow: ['', '/via/7'] });
  tab.update({ follow: ['', '/via/7'], isSeen: true });
  source('/via/7').emit('open');
  assert.deepEqual(delivered, [{ base: '/via/7', message: { kind: 'open' } }]);
  tab.update({ follow: [''] });
  assert.deepEqual(open(), ['']);
  tab.update({});
  assert.deepEqual(open(), []);
  // After it was suspended it learns that the stream is open: it may have missed something.
  tab.update({ follow: [''] });
  source('').emit('open');
  assert.deepEqual(delivered.at(-1), { base: '', message: { kind: 'open' } });
});
