import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortDriveName } from '../src/array/overview/short-name.ts';

test('each drive of the picture has a short name of its own', () => {
  const short = (display_name: string, name = 'volume-0000000a') => shortDriveName({ name, display_name });
  assert.equal(short('ssd-12'), '12');
  assert.equal(short('top left'), 'top le');
  const called = (name: string) => short(name, name);
  assert.equal(called('volume-00000001'), '01');
  assert.equal(called('volume-0000000a'), '0a');
  assert.equal(called('volume-00000010'), '10');
  assert.equal(called('volume-00000123'), '123');
});
