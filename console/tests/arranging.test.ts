import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arranged } from '../src/parts/arranging.ts';

/** Goal: lists are in the order that their heading says, whatever stands in them. */

interface Row {
  readonly name: string;
  readonly days: number | null;
}

const columns = [
  { name: 'name', value: ({ name }: Row) => name },
  { name: 'days', value: ({ days }: Row) => days },
  { name: 'actions' },
];
const rows = (...all: readonly (readonly [string, number | null])[]): Row[] =>
  all.map(([name, days]) => ({ name, days }));
const names = (all: readonly Row[]) => all.map(({ name }) => name).join(' ');

test('names with numbers are in the order of the numbers, in both directions', () => {
  const all = rows(['vol-10', 1], ['vol-9', 2], ['Vol-1', 3]);
  assert.equal(names(arranged(all, columns, '', 'name')), 'Vol-1 vol-9 vol-10');
  assert.equal(names(arranged(all, columns, '', '-name')), 'vol-10 vol-9 Vol-1');
  assert.equal(arranged(all, columns, '', 'actions'), all);
});

test('what never fills up, has no figure or is no number leaves the others in their order', () => {
  const all = rows(['a', Infinity], ['b', 3], ['c', Number.NaN], ['d', Infinity], ['e', 1], ['f', null], ['g', 2]);
  assert.equal(names(arranged(all, columns, '', 'days')), 'c f e g b a d');
});

test('a filter finds rows in which each of its words stands', () => {
  const all = rows(['backup of db', 1], ['db', 2], ['backup', 3]);
  assert.equal(names(arranged(all, columns, ' DB  back ', '')), 'backup of db');
  assert.equal(names(arranged(all, columns, '', '')), 'backup of db db backup');
});
