import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RECONNECT_MS, Streams, STREAMS_MAX, UNWATCHED_MS, type FeedMessage } from '../src/api/feed/streams.ts';
import { Tab, type Told } from '../src/api/feed/tabs.ts';

/** Goal: however many tabs and arrays are looked at, a few streams are open, and every tab hears what it must. */

class FakeSource {
  readyState = 0;
  readonly #listeners = new Map<string, (event: { data?: unknown }) => void>();

  addEventListener(type: string, listener: (event: { data?: unknown }) => void): void {
    this.#listeners.set(type, listener);
  }

  say(type: string, data?: object): void {
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
  const heard: FeedMessage[] = [];
  return {
    heard,
    kinds: () => heard.map(({ kind }) => kind),
    hear: (message: FeedMessage) => void heard.push(message),
  };
}

test('followers of one place share one stream, and it ends with the last of them', () => {
  const { streams, open, source } = start();
  const [first, second] = [follower(), follower()];
  const stops = [streams.follow('', first.hear), streams.follow('', second.hear)];
  source('').say('open');
  source('').say('changed', { groups: ['volumes', 7] });
  for (const { heard } of [first, second])
    assert.deepEqual(heard, [{ kind: 'open' }, { kind: 'changed', groups: ['volumes'] }]);
  const late = follower();
  stops.push(streams.follow('', late.hear));
  assert.deepEqual(late.kinds(), ['open'], 'the stream is open already');
  assert.deepEqual(open(), ['']);
  for (const stop of stops) stop();
  assert.deepEqual(open(), []);
});

test('the service and the arrays looked at last have streams; the others are read anew at intervals', () => {
  const { streams, open, waiting, pass } = start();
  const places = ['/via/1', '/via/2', '', '/via/3', '/via/4'];
  const followers = new Map(places.map((base) => [base, follower()]));
  const stops = new Map(places.map((base) => [base, streams.follow(base, followers.get(base)?.hear ?? (() => {}))]));
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
  streams.follow('', one.hear);
  source('').say('open');
  // The browser opens a lost one again by itself.
  source('').say('error');
  assert.deepEqual(waiting(), []);
  source('').say('open');
  source('').readyState = 2;
  source('').say('error');
  assert.deepEqual(waiting(), [RECONNECT_MS]);
  pass();
  assert.deepEqual(open(), ['']);
  source('').say('open');
  assert.deepEqual(one.kinds(), ['open', 'lost', 'open', 'lost', 'open']);
});

test('a tab follows what it last said; one that says nothing more follows nothing', () => {
  const { streams, open, source } = start();
  const told: Told[] = [];
  const tab = new Tab(streams, (one) => void told.push(one));
  tab.hear({ follow: ['', '/via/7'] });
  tab.hear({ follow: ['', '/via/7'], isSeen: true });
  source('/via/7').say('open');
  assert.deepEqual(told, [{ base: '/via/7', message: { kind: 'open' } }]);
  tab.hear({ follow: [''] });
  assert.deepEqual(open(), ['']);
  tab.hear({});
  assert.deepEqual(open(), []);
  // After it was asleep it hears that the stream is open, and so that it may have missed something.
  tab.hear({ follow: [''] });
  source('').say('open');
  assert.deepEqual(told.at(-1), { base: '', message: { kind: 'open' } });
});
