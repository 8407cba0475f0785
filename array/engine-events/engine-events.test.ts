import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes, type HostedDrive, createLog, EventLog, Store, systemClock } from '@granary/kernel';
import { findDriveByUuid, insertDrive, joinGroup, updateDrive } from '../drives/repository.ts';
import type { EngineEvent } from '../engine/events.ts';
import { migrations } from '../migrations.ts';
import { insertRaidGroup } from '../raid-groups/repository.ts';
import { EngineEvents } from './engine-events.ts';

const uuid = '00000000-0000-4000-8000-000000000001';
const group = 'RaidGroup-1';

async function setUp() {
  const store = new Store(':memory:', migrations);
  const events = new EventLog(systemClock);
  const engineEvents = new EngineEvents({ store, clock: systemClock, events, log: createLog('array', 'silent') });
  await store.write((tx) => {
    insertDrive(tx, { name: 'volume-00000001', displayName: 'left', uuid, placed: {} as HostedDrive, createdAt: 0 });
    const speed = { minResyncMb: 1, maxResyncMb: 2 };
    const shape = { protection: 'RAID1', width: 2, stripeBytes: bytes(65_536), memberGb: 1, isSsd: true } as const;
    insertRaidGroup(tx, { name: group, number: 1, displayName: 'fast', ...shape, ...speed, createdAt: 0 });
    joinGroup(tx, 'volume-00000001', group, 'member', 0);
  });
  return {
    store,
    take: async (...taken: EngineEvent[]) => {
      for (const event of taken) engineEvents.accept(event);
      await engineEvents.whenRecorded();
    },
    list: (subject?: string) =>
      store
        .read((db) => events.list(db, { subject, kind: 'all', oldestFirst: true, start: 0, limit: 0 }))
        .messages.map(({ msg_severity: severity, msg_title: title }) => [severity, title]),
    isFailed: () => store.read((db) => findDriveByUuid(db, uuid))?.isFailed,
  };
}

test('what happens in the engine is reported in order, in whole sentences, by the names people gave', async () => {
  const { take, list } = await setUp();
  await take(
    { type: 'drive-failed', drive: uuid, group, reason: 'EIO' },
    { type: 'spare-taken', drive: 'unknown', group },
    { type: 'rebuild-started', drive: 'unknown', group },
    { type: 'rebuild-finished', drive: 'unknown', group },
    { type: 'group-failed', group, drives: [uuid, 'unknown'] },
    { type: 'group-resumed', group },
    { type: 'blocks-repaired', drive: uuid, group, count: 1 },
    { type: 'blocks-lost', group, count: 3 },
    { type: 'login-refused', initiator: 'iqn.x', address: '127.0.0.1', reason: 'it is not known' },
    { type: 'controller-failed', controller: 'vsa-00000001-vc-0', reason: 'It does not answer.' },
  );
  assert.deepEqual(list(), [
    ['3', 'Drive left (volume-00000001) of RAID group fast (RaidGroup-1) failed: EIO.'],
    ['4', 'Hot spare unknown took the place of a failed drive in RAID group fast (RaidGroup-1).'],
    ['5', 'RAID group fast (RaidGroup-1) is being rebuilt onto drive unknown.'],
    ['5', 'The rebuild of RAID group fast (RaidGroup-1) onto drive unknown is done.'],
    ['3', 'RAID group fast (RaidGroup-1) failed: it lacks drives left (volume-00000001) and unknown. Bring them back.'],
    ['5', 'RAID group fast (RaidGroup-1) serves again.'],
    [
      '4',
      'On drive left (volume-00000001) of RAID group fast (RaidGroup-1) 1 damaged block was repaired from the other drives.',
    ],
    [
      '3',
      'In RAID group fast (RaidGroup-1) 3 damaged blocks were lost: too many drives have them wrong. Restore the data from a snapshot or a copy.',
    ],
    ['4', 'An iSCSI login of iqn.x from 127.0.0.1 was refused: it is not known.'],
    ['3', 'Controller vsa-00000001-vc-0 failed: It does not answer.'],
  ]);
  assert.equal(list('drive:volume-00000001').length, 2);
  assert.equal(list(`raid_group:${group}`).length, 5);
});

test('every kind of event has its words', async () => {
  const { take, list } = await setUp();
  await take(
    { type: 'drive-returned', drive: uuid, group },
    { type: 'spare-failed', drive: uuid, group, reason: 'gone' },
    { type: 'resync-started', group },
    { type: 'resync-finished', group },
    { type: 'no-space', group, reason: 'ENOSPC' },
    { type: 'checksums-rejected', drive: uuid, group, count: 2 },
    { type: 'background-error', pool: 'pool-00000001', reason: 'EIO' },
    { type: 'volume-reduced', volume: 'volume-00000001' },
    { type: 'session-opened', server: 'srv-00000001', initiator: 'iqn.x', address: '127.0.0.1' },
    { type: 'session-closed', server: 'srv-00000001', initiator: 'iqn.x', reason: 'logged out' },
    { type: 'controller-active', controller: 'vsa-00000001-vc-1', reason: 'the other one failed' },
    { type: 'audit-space-reclaimed', volume: 'volume-00000001', untilMs: 0 },
  );
  assert.equal(list().length, 12);
  for (const [, title] of list()) assert.match(title!, /^[A-Z].*[^.]\.$/);
});

test('a drive that failed stays so on record until it is back', async () => {
  const { take, isFailed, store } = await setUp();
  await take({ type: 'drive-failed', drive: uuid, group, reason: 'EIO' });
  assert.equal(isFailed(), true);
  await take({ type: 'drive-returned', drive: uuid, group });
  assert.equal(isFailed(), false);
  await store.write((tx) => updateDrive(tx, 'volume-00000001', { displayName: 'x' }, 1));
  assert.equal(isFailed(), false);
});

test('when more happens than can be written, the first are kept and it is said how many are missing', async () => {
  const { take, list } = await setUp();
  await take(...Array.from({ length: 1200 }, () => ({ type: 'resync-started', group }) as const));
  assert.equal(list().length, 1001);
  assert.match(list().at(-1)![1]!, /^200 more things happened/);
});
