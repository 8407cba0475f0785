import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { EventLog, ManualClock, Store } from '@granary/kernel';
import { temporaryFolder } from '../../testing/folders.ts';
import { migrations } from '../migrations.ts';
import type { ArrayTools } from '../tools.ts';
import { insertAttachment } from './attachment-repository.ts';
import { ServerMonitor } from './monitor.ts';
import { findServer, insertServer } from './repository.ts';
import type { Attachment, Server } from './server.ts';

const fields = {
  os: null,
  iqn: 'iqn.x:1',
  address: null,
  arrayChapUser: null,
  arrayChapSecret: null,
  hostChapUser: null,
  hostChapSecret: null,
};

async function setUp(t: TestContext) {
  const store = new Store(join(temporaryFolder(t), 'array.db'), migrations);
  t.after(() => store.close());
  const clock = new ManualClock('2026-01-01T00:00:00Z');
  const events = new EventLog(clock);
  let sessions: { server: string }[] = [];
  let look: () => Promise<unknown> = () => Promise.resolve();
  const readings = {
    get sessions() {
      return sessions;
    },
    onReading: (listener: typeof look) => (look = listener),
  };
  const tools = { store, clock, events, readings } as unknown as ArrayTools;
  await store.write((tx) => {
    insertServer(
      tx,
      { name: 'srv-1' as Server['name'], createdBy: null, ...fields, displayName: 'web-1', isMonitored: true },
      clock.now(),
    );
    insertServer(
      tx,
      { name: 'srv-2' as Server['name'], createdBy: null, ...fields, displayName: 'web-2', isMonitored: false },
      clock.now(),
    );
    const attachment = {
      volume: 'volume-1' as Attachment['volume'],
      accessType: 'ISCSI',
      lun: 0,
      isReadOnly: false,
      createdAt: 0,
    } as const;
    insertAttachment(tx, { ...attachment, server: 'srv-1' as Server['name'] });
  });
  return {
    start: () => {
      const monitor = new ServerMonitor(tools);
      monitor.start();
      return monitor;
    },
    /** A reading so many seconds later finds these servers connected. */
    after: async (seconds: number, ...connected: string[]) => {
      clock.advance(seconds * 1000);
      sessions = connected.map((server) => ({ server }));
      await look();
    },
    row: (name: string) => store.read((db) => findServer(db, name)) as Server,
    reported: () =>
      store
        .read((db) => events.list(db, { oldestFirst: true, start: 0, limit: 0 }))
        .messages.map(({ msg_severity, msg_title }) => `${msg_severity} ${msg_title}`),
    clock,
  };
}

test('a watched server is reported when it comes and when it is gone for good, not when it blinks', async (t) => {
  const { start, after, row, reported } = await setUp(t);
  const monitor = start();
  await after(40, 'srv-1', 'srv-2');
  await after(1);
  await after(3);
  await after(1, 'srv-1');
  assert.deepEqual(reported(), ['6 Server web-1 (srv-1) is connected.']);
  await after(4);
  await after(2);
  assert.deepEqual(reported().slice(1), ['4 Server web-1 (srv-1) is not connected any more.']);
  assert.deepEqual([row('srv-1').isConnected, row('srv-2').isConnected], [false, false]);
  assert.equal(row('srv-2').stateChangedAt, Date.parse('2026-01-01T00:00:45Z'), 'also of one that is not monitored');
  assert.deepEqual(monitor.connectivity(row('srv-1')), {
    isConnected: false,
    checkedAt: Date.parse('2026-01-01T00:00:51Z'),
  });
});

test('after a start, servers that were connected have a while to come back', async (t) => {
  const { start, after, reported } = await setUp(t);
  start();
  await after(1, 'srv-1');
  start();
  await after(20);
  await after(5, 'srv-1');
  assert.deepEqual(reported(), ['6 Server web-1 (srv-1) is connected.']);
  await after(40);
  assert.equal(reported().length, 2);
});
