import assert from 'node:assert/strict';
import { test } from 'node:test';
import { besideTitle } from '../src/array/overview/beside-title.ts';
import { shortDriveName } from '../src/array/overview/short-name.ts';
import { isFree, isOut } from '../src/array/records.ts';

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

test('a line in the picture comes down on the middle of its box, and beside the words above that', () => {
  const title = { left: 0, right: 150, top: 80, bottom: 96 };
  const box = (left: number, right: number, top = 100) => ({ left, right, top, bottom: top + 60 });
  assert.equal(besideTitle(box(0, 280), [title]), 162);
  assert.equal(besideTitle(box(300, 580), [title]), 440);
  assert.equal(besideTitle(box(0, 280, 300), [title]), 140, 'of a second row');
  assert.equal(besideTitle(box(0, 140), [title]), 128, 'never outside of the box');
});

test('a drive that failed or is away is not free, whether or not it is in a RAID group', () => {
  const free = (status: string, usage: 'Available' | 'In-use') => isFree({ status, usage });
  assert.deepEqual(
    [
      free('Available', 'Available'),
      free('Failed', 'Available'),
      free('Absent', 'Available'),
      free('Normal', 'In-use'),
    ],
    [true, false, false, false],
  );
  assert.equal(isOut({ status: 'Failed' }), true);
});
