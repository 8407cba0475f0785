import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../clock.ts';
import { DelegatedKeys } from './delegated-keys.ts';

const MINUTE = 60_000;
const ADMIN = { user: 1, role: 'admin', isForSession: false, person: 'dana' };

function fixture() {
  const clock = new ManualClock(0);
  const users = new Map([[1, { role: 'admin' }]]);
  return { clock, users, keys: new DelegatedKeys({ clock, find: (user) => users.get(user) }) };
}

test('a key acts as its user until it is dropped', () => {
  const { keys } = fixture();
  const { id, key } = keys.issue(ADMIN);
  assert.deepEqual(keys.holderOf(key), { user: { role: 'admin' }, hidesSecrets: false, person: 'dana' });
  assert.equal(keys.holderOf(`${key}x`), undefined);
  keys.check(id);
  keys.drop(id);
  assert.equal(keys.holderOf(key), undefined);
  assert.throws(() => keys.check(id), /not known any more/);
});

test('a key ends after ten minutes without a request, and after an hour in any case', () => {
  const { keys, clock } = fixture();
  const idle = keys.issue(ADMIN);
  const used = keys.issue(ADMIN);
  for (let minute = 0; minute < 59; minute += 1) {
    clock.advance(MINUTE);
    assert.ok(keys.holderOf(used.key), `minute ${minute}`);
  }
  assert.equal(keys.holderOf(idle.key), undefined);
  clock.advance(MINUTE);
  assert.equal(keys.holderOf(used.key), undefined);
  assert.equal(keys.size, 0);
});

test('a key ends when its user is gone or has another role, and does not come back with it', () => {
  const { keys, users } = fixture();
  const [one, two] = [keys.issue(ADMIN), keys.issue(ADMIN)];
  users.set(1, { role: 'user' });
  assert.equal(keys.holderOf(one.key), undefined);
  users.set(1, { role: 'admin' });
  assert.equal(keys.holderOf(one.key), undefined);
  users.delete(1);
  assert.equal(keys.holderOf(two.key), undefined);
});

test('there is room for a number of keys; the one used longest ago makes way', () => {
  const { keys } = fixture();
  const first = keys.issue(ADMIN);
  const second = keys.issue(ADMIN);
  keys.holderOf(first.key);
  while (keys.size < 4_096) keys.issue(ADMIN);
  keys.issue(ADMIN);
  assert.ok(keys.holderOf(first.key));
  assert.equal(keys.holderOf(second.key), undefined);
});
