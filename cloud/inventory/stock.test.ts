import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeGigabytes } from '@granary/kernel';
import { defaultConfig } from '../config/defaults.ts';
import type { Config } from '../config/schema.ts';
import type { Drive } from './drive.ts';
import { compareStock } from './stock.ts';

/** One node with the given drives. */
function configOf(drives: Record<string, number>, change: Partial<Config> = {}): Config {
  return { ...defaultConfig('linux'), nodes: [{ name: 'n1', zone: 'zone_0', drives }], ...change };
}

/** The drives of that config, the first `used` of each type in use. */
function rowsOf(config: Config, used: number): Drive[] {
  const { add } = compareStock([], config);
  const seen = new Map<string, number>();
  return add.map((drive) => {
    const n = (seen.get(drive.type) ?? 0) + 1;
    seen.set(drive.type, n);
    return { ...drive, array: n <= used ? 1 : null, number: n <= used ? n : null, policy: null, hasFile: false };
  });
}

test('an empty cloud gets every drive of the config', () => {
  const { add, drop, problems } = compareStock([], configOf({ SSD_10GB: 2, SSD_100GB: 1 }));
  assert.deepEqual(
    add.map(({ type, node, zone, capacity }) => [type, node, zone, wholeGigabytes(capacity)]),
    [
      ['SSD_10GB', 'n1', 'zone_0', 10],
      ['SSD_10GB', 'n1', 'zone_0', 10],
      ['SSD_100GB', 'n1', 'zone_0', 100],
    ],
  );
  assert.equal(new Set(add.map(({ uuid }) => uuid)).size, 3);
  assert.deepEqual([drop, problems], [[], []]);
});

test('the same config again changes nothing', () => {
  const config = configOf({ SSD_10GB: 3 });
  assert.deepEqual(compareStock(rowsOf(config, 1), config), { add: [], drop: [], problems: [] });
});

test('more drives are added, fewer are dropped as long as they are free', () => {
  const rows = rowsOf(configOf({ SSD_10GB: 4 }), 2);
  assert.equal(compareStock(rows, configOf({ SSD_10GB: 6 })).add.length, 2);
  const fewer = compareStock(rows, configOf({ SSD_10GB: 2 }));
  assert.deepEqual(
    fewer.drop.map(({ array }) => array),
    [null, null],
  );
  assert.deepEqual(fewer.problems, []);
});

test('drives in use are never forgotten: too few, another capacity, another zone, no such type or node', () => {
  const rows = rowsOf(configOf({ SSD_10GB: 4 }), 2);
  const larger = defaultConfig('linux').drive_types.map((type) => ({ ...type, capacity_gb: type.capacity_gb * 2 }));
  const changes = [
    configOf({ SSD_10GB: 1 }),
    configOf({}),
    configOf({ SSD_10GB: 4 }, { drive_types: larger }),
    { ...configOf({}), nodes: [{ name: 'n1', zone: 'zone_1', drives: { SSD_10GB: 4 } }] },
    { ...configOf({}), nodes: [{ name: 'n2', zone: 'zone_0', drives: { SSD_10GB: 4 } }] },
  ];
  for (const config of changes) {
    const { problems } = compareStock(rows, config);
    assert.equal(problems.length, 1);
    assert.match(problems[0]!, /2 drives of type SSD_10GB \(10 GiB\) of node n1 in zone zone_0 are in use/);
  }
});
