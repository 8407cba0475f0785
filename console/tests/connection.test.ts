import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lostNow, setConnected } from '../src/api/connection.ts';

test('a connection that is lost for seconds is shown until it is back, that of the service first', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000 });
  setConnected('/via/7', false);
  t.mock.timers.tick(3_000);
  assert.equal(lostNow(), undefined);
  // Back again at once: nothing to tell.
  setConnected('/via/7', true);
  t.mock.timers.tick(10_000);
  assert.equal(lostNow(), undefined);

  setConnected('/via/7', false);
  t.mock.timers.tick(4_000);
  assert.deepEqual(lostNow(), { base: '/via/7', since: new Date(14_000) });
  setConnected('', false);
  t.mock.timers.tick(4_000);
  assert.deepEqual(lostNow(), { base: '', since: new Date(18_000) });
  setConnected('', true);
  assert.equal(lostNow()?.base, '/via/7');
  setConnected('/via/7', true);
  assert.equal(lostNow(), undefined);
});
