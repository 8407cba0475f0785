import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addressKey, ConnectionLimits, type AdmittedConnection, type Stage } from './connection-limits.ts';

interface Opened {
  readonly place: AdmittedConnection;
  isDropped: boolean;
}

function open(limits: ConnectionLimits, address: string, stage: Stage = 'silent'): Opened | undefined {
  const place = limits.admit(address, () => (opened.isDropped = true));
  if (!place) return undefined;
  const opened: Opened = { place, isDropped: false };
  place.enter(stage);
  return opened;
}

function fill(limits: ConnectionLimits, address: string, count: number, stage?: Stage): Opened[] {
  return Array.from({ length: count }, () => {
    const opened = open(limits, address, stage);
    assert.ok(opened);
    return opened;
  });
}

test('the oldest silent connection of the address that has the most makes room', () => {
  const limits = new ConnectionLimits({ max: 8 });
  const few = fill(limits, '10.0.0.1', 2);
  const many = fill(limits, '10.0.0.2', 6);
  assert.ok(open(limits, '10.0.0.3'));
  assert.deepEqual(
    [...few, ...many].map(({ isDropped }) => isDropped),
    [false, false, true, false, false, false, false, false],
  );
  assert.equal(limits.size, 8);
});

test('silent connections go before idle ones, strangers before those who signed in', () => {
  const limits = new ConnectionLimits({ max: 4 });
  const [resting] = fill(limits, '10.0.0.1', 1, 'resting');
  const [idle] = fill(limits, '10.0.0.1', 1, 'idle');
  const [silent] = fill(limits, '10.0.0.1', 1, 'silent');
  const order = [silent, idle, resting];
  for (const [at, next] of order.entries()) {
    open(limits, '10.0.0.1', 'held');
    assert.ok(next?.isDropped, `${at}`);
    assert.ok(order.slice(at + 1).every((later) => !later?.isDropped));
  }
});

test('one address never has more than three quarters of the places', () => {
  const limits = new ConnectionLimits({ max: 8 });
  fill(limits, '10.0.0.1', 6, 'held');
  assert.equal(open(limits, '10.0.0.1'), undefined);
  assert.ok(open(limits, '10.0.0.2'));
});

test('an address does not displace another that has fewer connections', () => {
  const limits = new ConnectionLimits({ max: 8 });
  const [modest, second] = fill(limits, '10.0.0.1', 3, 'resting');
  fill(limits, '10.0.0.2', 5, 'busy');
  assert.equal(open(limits, '10.0.0.2'), undefined);
  assert.equal(modest?.isDropped || second?.isDropped, false);
});

test('requests under way are dropped only where an address has more than its share, sessions never', () => {
  const limits = new ConnectionLimits({ max: 8 });
  const [stranger] = fill(limits, '10.0.0.1', 1, 'serving');
  const busy = fill(limits, '10.0.0.1', 5, 'busy');
  fill(limits, '10.0.0.2', 2, 'held');
  assert.ok(open(limits, '10.0.0.3', 'busy'));
  assert.ok(stranger?.isDropped);
  assert.equal(busy.filter(({ isDropped }) => isDropped).length, 0);

  const sessions = new ConnectionLimits({ max: 8 });
  fill(sessions, '10.0.0.1', 6, 'held');
  fill(sessions, '10.0.0.2', 2, 'held');
  assert.equal(open(sessions, '10.0.0.3'), undefined);
});

test('crowding is reported once a minute with what happened since', () => {
  const reports: unknown[] = [];
  let now = 0;
  const limits = new ConnectionLimits({ max: 4, now: () => now, onCrowded: (report) => reports.push(report) });
  fill(limits, '10.0.0.1', 3);
  for (let count = 0; count < 5; count += 1) open(limits, '10.0.0.1');
  now = 60_000;
  open(limits, '10.0.0.1');
  assert.deepEqual(reports, [
    { address: '10.0.0.1', dropped: 1, refused: 0 },
    { address: '10.0.0.1', dropped: 5, refused: 0 },
  ]);
});

test('addresses are distinguished by what one host cannot choose freely', () => {
  assert.equal(addressKey('::ffff:10.0.0.1'), '10.0.0.1');
  assert.equal(addressKey('10.0.0.1'), '10.0.0.1');
  assert.equal(addressKey('2001:db8:1:2:3:4:5:6'), addressKey('2001:db8:1:2::9'));
  assert.notEqual(addressKey('2001:db8:1:2::9'), addressKey('2001:db8:1:3::9'));
  assert.equal(addressKey('::1'), '0:0:0:0::/64');
  assert.equal(addressKey('fe80::1%eth0'), addressKey('fe80::2%eth1'));
});

test('after any sequence counts are right, no address exceeds its share, and a first connection is refused only by what is held', () => {
  const stage = fc.constantFrom<Stage>('silent', 'idle', 'resting', 'serving', 'busy', 'held');
  const step = fc.oneof(
    fc.record({ kind: fc.constant('open' as const), address: fc.nat(4), stage }),
    fc.record({ kind: fc.constant('enter' as const), at: fc.nat(40), stage }),
    fc.record({ kind: fc.constant('leave' as const), at: fc.nat(40) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), fc.integer({ min: 2, max: 12 }), (steps, max) => {
      const limits = new ConnectionLimits({ max });
      const opened: { address: string; place: AdmittedConnection }[] = [];
      const alive = () => opened.filter(({ place }) => place.stage !== undefined);
      for (const each of steps) {
        if (each.kind === 'open') {
          const address = `10.0.0.${each.address}`;
          const isFirst = !alive().some((one) => one.address === address);
          const before = alive();
          const place = limits.admit(address, () => undefined);
          if (place) {
            place.enter(each.stage);
            opened.push({ address, place });
          } else if (isFirst) {
            assert.ok(before.every(({ place: other }) => !['silent', 'idle', 'resting'].includes(other.stage ?? '')));
          }
        } else if (each.kind === 'enter') opened[each.at % (opened.length || 1)]?.place.enter(each.stage);
        else opened[each.at % (opened.length || 1)]?.place.leave();
        const living = alive();
        assert.equal(limits.size, living.length);
        assert.ok(limits.size <= limits.max);
        for (const { address } of living)
          assert.ok(living.filter((one) => one.address === address).length <= limits.perAddressMax);
      }
    }),
  );
});
