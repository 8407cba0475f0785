import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GranaryError } from '@granary/kernel';
import type { Protection } from '../engine/hardware.ts';
import { mayMiss, shapeOf } from './shape.ts';

function drives(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function widthAndSpares(protection: Protection, count: number, hotSpare: boolean, width?: number): [number, number] {
  const { members, spares } = shapeOf({ protection, drives: drives(count), hotSpare, width });
  assert.deepEqual([...members, ...spares], drives(count), 'the last drives are the spares');
  return [members.length, spares.length];
}

test('every valid number of drives makes a group, with and without hot spares', () => {
  for (const count of [2, 3]) assert.deepEqual(widthAndSpares('RAID1', count, false), [count, 0]);
  for (const count of [3, 4]) assert.deepEqual(widthAndSpares('RAID1', count, true), [count - 1, 1]);
  for (const count of [4, 5, 6, 7, 8, 9, 10]) {
    assert.deepEqual(widthAndSpares('RAID6', count, false), [count, 0]);
    assert.deepEqual(widthAndSpares('RAID6', count + 1, true), [count, 1]);
    assert.deepEqual(widthAndSpares('RAID6', count + 2, true, count), [count, 2]);
  }
  assert.deepEqual(widthAndSpares('RAID6', 6, false, 6), [6, 0]);
});

test('what does not fit together is a bad parameter that is named', () => {
  const refusals: [Protection, number, boolean, number | undefined, string][] = [
    ['RAID6', 3, false, undefined, 'disk names 3 drives: RAID6 takes 4 to 10 drives.'],
    ['RAID6', 11, false, undefined, 'disk names 11 drives: RAID6 takes 4 to 10 drives.'],
    ['RAID6', 4, true, undefined, 'disk names 3 drives besides the hot spare: RAID6 takes 4 to 10 drives.'],
    ['RAID1', 4, false, undefined, 'disk names 4 drives: RAID1 takes 2 or 3 drives.'],
    ['RAID1', 2, true, undefined, 'disk names 1 drive besides the hot spare: RAID1 takes 2 or 3 drives.'],
    ['RAID1', 2, false, 3, 'protection_width must not be above 2, the number of drives.'],
    ['RAID1', 3, true, 3, 'protection_width must be below 3, the number of drives, to leave one as a hot spare.'],
    ['RAID1', 3, false, 2, 'protection_width must be 3, the number of drives, unless hot_spare is YES.'],
    ['RAID6', 5, true, 3, 'protection_width must not be 3: RAID6 takes 4 to 10 drives.'],
    ['RAID6', 9, true, 4, 'disk leaves 5 hot spares; a RAID group has at most 4.'],
  ];
  for (const [protection, count, hotSpare, width, message] of refusals)
    assert.throws(
      () => shapeOf({ protection, drives: drives(count), hotSpare, width }),
      (error: unknown) => {
        assert.ok(error instanceof GranaryError);
        assert.deepEqual([error.entry, error.message], ['bad_parameter', message]);
        return true;
      },
    );
});

test('RAID1 can do without all drives but one, RAID6 without two', () => {
  assert.equal(mayMiss({ protection: 'RAID1', width: 2 }), 1);
  assert.equal(mayMiss({ protection: 'RAID1', width: 3 }), 2);
  for (const width of [4, 10]) assert.equal(mayMiss({ protection: 'RAID6', width }), 2);
});
