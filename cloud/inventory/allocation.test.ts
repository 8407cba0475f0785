import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planInOneZone, planInZone, planOverZones, type Stock } from './allocation.ts';

/** `zone/node: count` of one type. */
function stock(type: string, counts: Readonly<Record<string, number>>): Stock[] {
  return Object.entries(counts).map(([place, count]) => {
    const [zone = '', node = ''] = place.split('/');
    return { type, zone, node, count };
  });
}

const want = (type: string, count: number) => ({ type, count, policy: null });
const nodesOf = (plan: object) => (plan as { picks: { node: string }[] }).picks.map(({ node }) => node);
const even = { 'z0/a': 5, 'z0/b': 5, 'z1/c': 5, 'z1/d': 5, 'z2/e': 5, 'z2/f': 5 };

test('the drives of an array go to different nodes while there are any', () => {
  const plan = planInZone({ wanted: [want('S', 4)], free: stock('S', even), held: [] }, 'z1');
  assert.deepEqual(nodesOf(plan).toSorted(), ['c', 'c', 'd', 'd']);
});

test('growing an array counts the drives it has', () => {
  const held = stock('S', { 'z1/c': 3 });
  const plan = planInZone({ wanted: [want('S', 2)], free: stock('S', even), held }, 'z1');
  assert.deepEqual(nodesOf(plan), ['d', 'd']);
});

test('without a zone a storage array goes where most is free, if it fits there', () => {
  const free = stock('S', { 'z0/a': 3, 'z1/c': 9, 'z2/e': 6 });
  const zones = ['z0', 'z1', 'z2'];
  assert.equal(planInOneZone({ wanted: [want('S', 2)], free, held: [] }, zones).zone, 'z1');
  const mixed = [...stock('S', { 'z0/a': 2, 'z1/c': 9 }), ...stock('H', { 'z0/a': 2 })];
  assert.equal(planInOneZone({ wanted: [want('S', 2), want('H', 2)], free: mixed, held: [] }, zones).zone, 'z0');
});

test('object storage takes from zone after zone in turn, and goes on where a zone has run out', () => {
  const plan = planOverZones({ wanted: [want('S', 6)], free: stock('S', even), held: [] });
  assert.deepEqual(nodesOf(plan).toSorted(), ['a', 'b', 'c', 'd', 'e', 'f']);
  const scarce = stock('S', { 'z0/a': 1, 'z1/c': 5, 'z2/e': 5 });
  const rest = planOverZones({ wanted: [want('S', 7)], free: scarce, held: [] });
  assert.deepEqual(nodesOf(rest).toSorted(), ['a', 'c', 'c', 'c', 'e', 'e', 'e']);
});

test('a shortage says how many are free and where', () => {
  const free = stock('S', even);
  const zones = ['z0', 'z1', 'z2'];
  assert.deepEqual(planInZone({ wanted: [want('S', 11)], free, held: [] }, 'z1'), {
    shortage: { type: 'S', wanted: 11, available: 10, where: ' in zone z1' },
  });
  assert.deepEqual(planInOneZone({ wanted: [want('S', 11)], free, held: [] }, zones), {
    shortage: { type: 'S', wanted: 11, available: 10, where: ' in any one zone' },
  });
  assert.deepEqual(planOverZones({ wanted: [want('S', 31)], free, held: [] }), {
    shortage: { type: 'S', wanted: 31, available: 30, where: '' },
  });
  const apart = [...stock('S', { 'z0/a': 4 }), ...stock('H', { 'z1/c': 2 })];
  assert.deepEqual(planInOneZone({ wanted: [want('S', 2), want('H', 2)], free: apart, held: [] }, zones), {
    shortage: { type: 'H', wanted: 2, available: 0, where: ' in zone z0' },
  });
});

test('two policies that want the same type are counted together', () => {
  const wanted = [
    { type: 'S', policy: 'a', count: 3 },
    { type: 'S', policy: 'b', count: 3 },
  ];
  const plan = planOverZones({ wanted, free: stock('S', { 'z0/a': 5 }), held: [] });
  assert.deepEqual(plan, { shortage: { type: 'S', wanted: 6, available: 5, where: '' } });
});
