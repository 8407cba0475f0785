import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ReservationType } from './persistent-reservations.ts';
import { FileReservationStore } from './reservation-store.ts';
import { FakeSession, SECTORS, fakePair, fakeUnit, run } from '../testing/fake-session.ts';

const REGISTER = 0;
const RESERVE = 1;
const RELEASE = 2;
const CLEAR = 3;
const PREEMPT = 4;
const PREEMPT_AND_ABORT = 5;
const REGISTER_AND_IGNORE = 6;

interface OutOptions {
  readonly key?: number;
  readonly next?: number;
  readonly type?: number;
  readonly aptpl?: boolean;
}

async function out(session: FakeSession, action: number, { key = 0, next = 0, type = 0, aptpl = false }: OutOptions) {
  const list = Buffer.alloc(24);
  list.writeBigUInt64BE(BigInt(key), 0);
  list.writeBigUInt64BE(BigInt(next), 8);
  list[20] = aptpl ? 1 : 0;
  return run(await session.send(Buffer.of(0x5f, action, type, 0, 0, 0, 0, 0, 24, 0), list));
}

async function keys(session: FakeSession): Promise<number[]> {
  const { data } = await session.send('5e 00 00 00 00 00 00 10 00');
  return Array.from({ length: data!.readUInt32BE(4) / 8 }, (_, index) => Number(data!.readBigUInt64BE(8 + 8 * index)));
}

async function holder(session: FakeSession): Promise<[key: number, type: number] | undefined> {
  const { data } = await session.send('5e 01 00 00 00 00 00 10 00');
  return data!.length === 8 ? undefined : [Number(data!.readBigUInt64BE(8)), data![21]!];
}

const reads = async (session: FakeSession) => run(await session.send('28 00 00 00 00 00 00 00 01'));
const writes = async (session: FakeSession) => run(await session.send('2a 00 00 00 00 00 00 00 01', SECTORS.of(1)));

function trio() {
  const { unit, one, other } = fakePair();
  return { unit, one, other, third: new FakeSession(unit, 'third') };
}

test('who is let in follows from the type, from being registered and from holding', async () => {
  // For each type: what a registered and an unregistered initiator may do that does not hold the reservation.
  const table: [number, registered: [string, string], outsider: [string, string]][] = [
    [ReservationType.writeExclusive, ['good', 'conflict'], ['good', 'conflict']],
    [ReservationType.exclusiveAccess, ['conflict', 'conflict'], ['conflict', 'conflict']],
    [ReservationType.writeExclusiveRegistrantsOnly, ['good', 'good'], ['good', 'conflict']],
    [ReservationType.exclusiveAccessRegistrantsOnly, ['good', 'good'], ['conflict', 'conflict']],
    [ReservationType.writeExclusiveAllRegistrants, ['good', 'good'], ['good', 'conflict']],
    [ReservationType.exclusiveAccessAllRegistrants, ['good', 'good'], ['conflict', 'conflict']],
  ];
  for (const [type, registered, outsider] of table) {
    const { one, other, third } = trio();
    assert.equal(await out(one, REGISTER, { next: 1 }), 'good');
    assert.equal(await out(other, REGISTER, { next: 2 }), 'good');
    assert.equal(await out(one, RESERVE, { key: 1, type }), 'good');
    assert.deepEqual([await reads(one), await writes(one)], ['good', 'good'], `holder, type ${type}`);
    assert.deepEqual([await reads(other), await writes(other)], registered, `registered, type ${type}`);
    assert.deepEqual([await reads(third), await writes(third)], outsider, `outsider, type ${type}`);
    assert.equal(run(await third.send('00')), 'good');
    assert.equal(run(await third.send('25 00')), 'good');
    assert.equal(await out(third, RESERVE, { key: 0, type }), 'conflict');
  }
});

test('a key is registered, changed and taken back by the one who knows it', async () => {
  const { one, other } = trio();
  assert.equal(await out(one, REGISTER, { key: 9, next: 1 }), 'conflict', 'not registered yet');
  assert.equal(await out(one, REGISTER, { next: 1 }), 'good');
  assert.equal(await out(one, REGISTER, { next: 2 }), 'conflict');
  assert.equal(await out(one, REGISTER, { key: 1, next: 2 }), 'good');
  assert.equal(await out(other, REGISTER_AND_IGNORE, { key: 77, next: 3 }), 'good');
  assert.deepEqual(await keys(one), [2, 3]);
  assert.equal(await out(one, REGISTER, { key: 2 }), 'good');
  assert.deepEqual(await keys(one), [3]);
});

test('only the holder releases, and must know the type', async () => {
  const { one, other } = trio();
  await out(one, REGISTER, { next: 1 });
  await out(other, REGISTER, { next: 2 });
  await out(one, RESERVE, { key: 1, type: 5 });
  assert.deepEqual(await holder(other), [1, 5]);
  assert.equal(await out(one, RESERVE, { key: 1, type: 5 }), 'good', 'again the same');
  assert.equal(await out(one, RESERVE, { key: 1, type: 3 }), 'conflict', 'another type');
  assert.equal(await out(other, RESERVE, { key: 2, type: 5 }), 'conflict');
  assert.equal(await out(other, RELEASE, { key: 2, type: 5 }), 'good', 'without effect');
  assert.equal(await out(one, RELEASE, { key: 1, type: 3 }), '5/26/04');
  assert.equal(await out(one, RELEASE, { key: 9, type: 5 }), 'conflict');
  assert.equal(await out(one, RELEASE, { key: 1, type: 5 }), 'good');
  assert.equal(await holder(one), undefined);
  assert.equal(run(await other.send('00')), '6/2a/04', 'other registrants get a unit attention');
});

test('a reservation ends with the registration of its holder, one of all registrants with the last', async () => {
  const { one, other } = trio();
  await out(one, REGISTER, { next: 1 });
  await out(other, REGISTER, { next: 2 });
  await out(one, RESERVE, { key: 1, type: 7 });
  assert.deepEqual(await holder(one), [0, 7]);
  await out(one, REGISTER, { key: 1 });
  assert.deepEqual(await holder(one), [0, 7]);
  await out(other, REGISTER, { key: 2 });
  assert.equal(await holder(one), undefined);
  await out(one, REGISTER, { next: 1 });
  await out(one, RESERVE, { key: 1, type: 1 });
  await out(one, REGISTER, { key: 1 });
  assert.equal(await holder(one), undefined);
});

test('CLEAR removes everything and notifies all registrants', async () => {
  const { one, other } = trio();
  await out(one, REGISTER, { next: 1 });
  await out(other, REGISTER, { next: 2 });
  await out(one, RESERVE, { key: 1, type: 3 });
  assert.equal(await out(other, CLEAR, { key: 1 }), 'conflict');
  assert.equal(await out(other, CLEAR, { key: 2 }), 'good');
  assert.equal(run(await one.send('00')), '6/2a/03');
  assert.deepEqual(await keys(one), []);
  assert.equal(await holder(one), undefined);
});

test('PREEMPT takes the reservation over and the registration away; with ABORT commands end, too', async () => {
  for (const action of [PREEMPT, PREEMPT_AND_ABORT]) {
    const { one, other } = trio();
    await out(one, REGISTER, { next: 1 });
    await out(other, REGISTER, { next: 2 });
    await out(one, RESERVE, { key: 1, type: 1 });
    assert.equal(await out(other, action, { key: 2, next: 1, type: 3 }), 'good');
    assert.deepEqual(await holder(other), [2, 3]);
    assert.deepEqual(await keys(other), [2]);
    assert.equal(one.aborted, action === PREEMPT_AND_ABORT ? 1 : 0);
    assert.equal(run(await one.send('00')), '6/2a/05');
    assert.equal(await writes(one), 'conflict');
  }
});

test('PREEMPT of someone who does not hold only takes the registration away', async () => {
  const { one, other, third } = trio();
  await out(one, REGISTER, { next: 1 });
  await out(other, REGISTER, { next: 2 });
  await out(third, REGISTER, { next: 3 });
  await out(one, RESERVE, { key: 1, type: 5 });
  assert.equal(await out(other, PREEMPT, { key: 2, next: 3, type: 5 }), 'good');
  assert.deepEqual(await holder(one), [1, 5]);
  assert.deepEqual(await keys(one), [1, 2]);
  assert.equal(await out(other, PREEMPT, { key: 2, next: 99, type: 5 }), 'conflict', 'a key that is not registered');
  assert.equal(await out(other, PREEMPT, { key: 2, next: 0, type: 5 }), '5/26/00');
});

test('PREEMPT with no key takes a reservation of all registrants from all others', async () => {
  const { one, other, third } = trio();
  for (const [index, session] of [one, other, third].entries()) await out(session, REGISTER, { next: index + 1 });
  await out(one, RESERVE, { key: 1, type: 8 });
  assert.equal(await out(third, PREEMPT, { key: 3, next: 0, type: 1 }), 'good');
  assert.deepEqual(await keys(third), [3]);
  assert.deepEqual(await holder(third), [3, 1]);
});

test('the generation counts registrations, clearing and preempting, not reserving', async () => {
  const { one } = trio();
  const generation = async () => (await one.send('5e 00 00 00 00 00 00 00 08')).data!.readUInt32BE(0);
  assert.equal(await generation(), 0);
  await out(one, REGISTER, { next: 1 });
  await out(one, RESERVE, { key: 1, type: 1 });
  assert.equal(await generation(), 1);
  await out(one, CLEAR, { key: 1 });
  assert.equal(await generation(), 2);
});

test('parameters that make no sense are refused', async () => {
  const { one } = trio();
  await out(one, REGISTER, { next: 1 });
  assert.equal(run(await one.send('5f 00 00 00 00 00 00 00 10', Buffer.alloc(16))), '5/1a/00');
  assert.equal(await out(one, RESERVE, { key: 1, type: 2 }), '5/24/00');
  assert.equal(await out(one, RESERVE, { key: 1, type: 0x11 }), '5/24/00');
  const withPorts = Buffer.alloc(24);
  withPorts[20] = 0x08;
  assert.equal(run(await one.send('5f 00 00 00 00 00 00 00 18', withPorts)), '5/26/00');
  assert.equal(run(await one.send('5f 07 00 00 00 00 00 00 18', Buffer.alloc(24))), '5/24/00');
  assert.equal(run(await one.send('5e 04 00 00 00 00 00 00 18')), '5/24/00');
});

test('the full status names every registrant and marks the holder', async () => {
  const { one, other } = trio();
  await out(one, REGISTER, { next: 1 });
  await out(other, REGISTER, { next: 2 });
  await out(other, RESERVE, { key: 2, type: 3 });
  const { data } = await one.send('5e 03 00 00 00 00 00 10 00');
  const found: [number, boolean, string][] = [];
  for (let at = 8; at < data!.length; at += 24 + data!.readUInt32BE(at + 20)) {
    const name = data!.toString('utf8', at + 28, at + 24 + data!.readUInt32BE(at + 20)).replaceAll('\0', '');
    found.push([Number(data!.readBigUInt64BE(at)), (data![at + 12]! & 1) === 1, name]);
  }
  assert.deepEqual(found, [
    [1, false, 'iqn.2026-01.com.example:one,i,0x400000000001'],
    [2, true, 'iqn.2026-01.com.example:other,i,0x400000000001'],
  ]);
});

test('all six types and persistence are announced', async () => {
  const { one } = trio();
  const { data } = await one.send('5e 02 00 00 00 00 00 00 08');
  assert.deepEqual([...data!], [0, 8, 0x11, 0x80, 0xea, 0x01, 0, 0]);
  await out(one, REGISTER, { next: 1, aptpl: true });
  assert.equal((await one.send('5e 02 00 00 00 00 00 00 08')).data![3], 0x81);
});

test('RESERVE(6) by a registrant does nothing and by others is refused', async () => {
  const { one, other, unit } = trio();
  await out(one, REGISTER, { next: 1 });
  assert.equal(run(await one.send('16')), 'good');
  assert.equal(unit.legacyHolder, undefined);
  assert.equal(run(await other.send('16')), 'conflict');
});

test('with APTPL everything is there again after a restart, without it nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'granary-reservations-'));
  try {
    for (const [aptpl, type] of [
      [true, 3],
      [true, 8],
      [false, 3],
    ] as const) {
      const serial = `unit/${type}-${aptpl}`;
      const { one, other } = fakePair({ store: new FileReservationStore(folder), serial });
      await out(other, REGISTER, { next: 2, aptpl });
      await out(one, REGISTER, { next: 1, aptpl });
      await out(one, RESERVE, { key: 1, type });
      const unit = fakeUnit({ store: new FileReservationStore(folder), serial });
      const again = new FakeSession(unit, 'one');
      const outsider = new FakeSession(unit, 'third');
      assert.deepEqual(await keys(again), aptpl ? [2, 1] : []);
      assert.deepEqual(await holder(again), aptpl ? [type === 8 ? 0 : 1, type] : undefined);
      assert.equal(await writes(outsider), aptpl ? 'conflict' : 'good');
      assert.equal(await writes(again), 'good');
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a registration without APTPL makes what was kept forgotten', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'granary-reservations-'));
  try {
    const store = new FileReservationStore(folder);
    const { one } = fakePair({ store });
    await out(one, REGISTER, { next: 1, aptpl: true });
    assert.equal(store.load('SERIAL-1')?.registrations.length, 1);
    await out(one, REGISTER, { key: 1, next: 2 });
    assert.equal(store.load('SERIAL-1'), undefined);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a state that cannot be kept fails the command', async () => {
  const { one } = fakePair({
    store: { load: () => undefined, save: () => Promise.reject(new Error('disk full')) },
  });
  assert.equal(await out(one, REGISTER, { next: 1, aptpl: true }), '4/44/00');
});
