import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EngineCall } from './protocol.ts';
import { ReplayLog } from './replay-log.ts';

const SPEED = { minimum: 1, maximum: 2 };
const CAPS = { readIops: 0, readBytesPerSecond: 0, writeIops: 20, writeBytesPerSecond: 0 };
const NO_CAPS = { ...CAPS, writeIops: 0 };
const KEY = new Uint8Array(64).fill(7);
const SERVER = {
  id: 'server-1',
  initiator: null,
  address: null,
  chap: null,
  mutualChap: null,
  isChapRequired: false,
  units: [],
};

function recorded(...calls: readonly EngineCall[]): ReplayLog {
  const log = new ReplayLog();
  for (const call of calls) log.record(call);
  return log;
}

function methods(log: ReplayLog): string[] {
  return log.calls().map(({ method }) => method);
}

test('state is replayed in the order it stands on each other, servers last, however it was recorded', () => {
  const log = recorded(
    { method: 'putServer', args: [SERVER] },
    { method: 'setCaps', args: ['volume-1', CAPS] },
    { method: 'unlockVolume', args: ['volume-1', KEY] },
    { method: 'setPoolCache', args: ['pool-1', { bytes: 1, keepsSnapshots: false, coolOffMs: 0 }] },
    { method: 'setResyncSpeed', args: ['group-1', SPEED] },
    { method: 'takeDriveOffline', args: ['drive-1'] },
    { method: 'setReadMode', args: ['first'] },
    { method: 'setReadMode', args: ['least_loaded'] },
  );
  assert.deepEqual(log.calls()[0], { method: 'setReadMode', args: ['least_loaded'] });
  assert.deepEqual(methods(log), [
    'setReadMode',
    'takeDriveOffline',
    'setResyncSpeed',
    'setPoolCache',
    'unlockVolume',
    'setCaps',
    'putServer',
  ]);
});

test('a later call replaces an earlier one of the same kind and thing', () => {
  const log = recorded(
    { method: 'setCaps', args: ['volume-1', { ...CAPS, writeIops: 10 }] },
    { method: 'setCaps', args: ['volume-1', CAPS] },
  );
  assert.deepEqual(log.calls(), [{ method: 'setCaps', args: ['volume-1', CAPS] }]);
  log.record({ method: 'setCaps', args: ['volume-1', NO_CAPS] });
  assert.deepEqual(log.calls(), []);
});

test('nothing of a deleted volume is replayed, and all of another one is', () => {
  const log = new ReplayLog();
  for (const id of ['volume-1', 'volume-2']) {
    log.record({ method: 'unlockVolume', args: [id, KEY] });
    log.record({ method: 'setCaps', args: [id, CAPS] });
    log.record({ method: 'countSizes', args: [id, true] });
    log.record({ method: 'holdWrites', args: [[id], 60_000] });
  }
  log.record({ method: 'deleteVolume', args: ['volume-1'] });
  assert.deepEqual(methods(log), ['unlockVolume', 'setCaps', 'countSizes', 'holdWrites']);
  const ids = log.calls().map(({ args }) => args[0]);
  assert.deepEqual(ids, ['volume-2', 'volume-2', 'volume-2', ['volume-2']]);
});

test('a key is a copy of its own', () => {
  const key = Uint8Array.from(KEY);
  const log = recorded({ method: 'unlockVolume', args: ['volume-1', key] });
  key.fill(0);
  assert.deepEqual(log.calls()[0]?.args[1], KEY);
});

test('a hold is replayed for the time it has left, and not when that is over', (t) => {
  t.mock.timers.enable({ apis: ['Date'] });
  const log = recorded({ method: 'holdWrites', args: [['volume-1'], 1000] });
  t.mock.timers.tick(400);
  assert.ok(log.holdsWrites);
  assert.deepEqual(log.calls(), [{ method: 'holdWrites', args: [['volume-1'], 600] }]);
  t.mock.timers.tick(600);
  assert.ok(!log.holdsWrites);
  assert.deepEqual(log.calls(), []);
});
