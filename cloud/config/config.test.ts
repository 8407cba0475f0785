import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createLog } from '@granary/kernel';
import { temporaryFolder } from '../../testing/folders.ts';
import { defaultConfig } from './defaults.ts';
import { loadConfig, parseConfig } from './load.ts';
import { AMOUNT_PATTERN, ConfigSchema, FOLDER_NAME_PATTERN, KEY_PATTERN, type Config } from './schema.ts';

const log = createLog('test', 'silent');

/** The message of a config that is the default but for one change. */
function refusal(change: (config: Config & Record<string, unknown>) => void): string {
  const config = structuredClone(defaultConfig('linux')) as Config & Record<string, unknown>;
  change(config);
  try {
    parseConfig(JSON.stringify(config));
  } catch (error) {
    return (error as Error).message;
  }
  return 'accepted';
}

test('a first start writes the defaults and a schema for editors; the next one reads what is there', (t) => {
  const dataDir = temporaryFolder(t);
  const written = loadConfig({ dataDir, log });
  assert.deepEqual(written, defaultConfig());
  assert.ok(existsSync(join(dataDir, 'granary.config.schema.json')));
  const file = join(dataDir, 'granary.config.json');
  const edited = { ...written, minimum_drives: 3 };
  writeFileSync(file, JSON.stringify(edited));
  assert.equal(loadConfig({ dataDir, log }).minimum_drives, 3);
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), edited, 'and leaves it alone');
});

test('the defaults keep their own rules on every system', () => {
  for (const system of ['linux', 'darwin', 'win32'] as const) parseConfig(JSON.stringify(defaultConfig(system)));
  assert.equal(defaultConfig('linux').network.arrays, '127.64.0.0/16');
  assert.equal(defaultConfig('darwin').network.arrays, '127.0.0.1/32');
});

test('a config file that is named must exist', (t) => {
  const configFile = join(temporaryFolder(t), 'mine.json');
  assert.throws(() => loadConfig({ dataDir: temporaryFolder(t), configFile, log }), /mine\.json.*no such file/s);
});

test('broken JSON is said to be broken, and where', () => {
  assert.throws(() => parseConfig('{"zones": [}'), /granary\.config\.json cannot be used:.*not valid JSON/s);
  assert.throws(() => parseConfig('[]'), /the whole file is an empty list; write an object in \{ \}/);
});

test('an error names the place and says what is allowed', () => {
  assert.match(
    refusal((c) => (c.minimum_drives = 0)),
    /minimum_drives is 0; write 1 or more/,
  );
  assert.match(
    refusal((c) => ((c.drive_types[0] as { medium: string }).medium = 'tape')),
    /drive_types\[0\]\.medium is "tape"; write one of ssd, hdd/,
  );
  assert.match(
    refusal((c) => (c.engine_types[1]!.hourly_price_usd = '1,5')),
    /engine_types\[1\]\.hourly_price_usd is "1,5"; write an amount in US dollars as text, such as "0\.05"/,
  );
  assert.match(
    refusal((c) => delete (c as Partial<Config>).flash_cache),
    /flash_cache is missing/,
  );
  assert.match(
    refusal((c) => (c.nodes[0]!.drives['SSD_10GB'] = -1)),
    /nodes\[0\]\.drives\.SSD_10GB is -1; write 0 or more/,
  );
});

test('no message shows a pattern, and every pattern of the schema has words', () => {
  assert.match(
    refusal((c) => (c.zones[0]!.name = 'a b')),
    /zones\[0\]\.name is "a b"; write a name of letters/,
  );
  assert.match(
    refusal((c) => (c.nodes[0]!.name = 'A')),
    /nodes\[0\]\.name is "A"; write a name of small letters/,
  );
  assert.match(
    refusal((c) => ((c as { arrays_max: unknown }).arrays_max = 'many')),
    /arrays_max is "many"; write a whole number/,
  );
  const patterns = JSON.stringify(ConfigSchema).match(/"pattern":"(?:[^"\\]|\\.)*"/g) ?? [];
  assert.deepEqual(
    [...new Set(patterns.map((text) => (JSON.parse(`{${text}}`) as { pattern: string }).pattern))].sort(),
    [AMOUNT_PATTERN, FOLDER_NAME_PATTERN, KEY_PATTERN].sort(),
  );
});

test('an unknown key is an error: it is most likely a misspelt one', () => {
  assert.match(
    refusal((c) => (c['minimun_drives'] = 2)),
    /minimun_drives is not known here/,
  );
  assert.match(
    refusal((c) => ((c.features as Record<string, unknown>)['nfs'] = true)),
    /features: nfs is not known here/,
  );
});

test('what refers to something must refer to something that is there', () => {
  assert.match(
    refusal((c) => (c.nodes[1]!.zone = 'zone_9')),
    /nodes\[1\]\.zone: zone_9 is not one of those declared here; write one of zone_0, zone_1, zone_2/,
  );
  assert.match(
    refusal((c) => (c.nodes[1]!.drives['SSD_1TB'] = 1)),
    /nodes\[1\]\.drives: SSD_1TB is not one of those declared here; write one of SSD_10GB/,
  );
  assert.match(
    refusal((c) => (c.nodes[1]!.name = 'node-1')),
    /nodes\[1\]\.name: node-1 stands there twice/,
  );
  assert.match(
    refusal((c) => (c.network.arrays = '127.64.0.0')),
    /network\.arrays: 127\.64\.0\.0 is not an IPv4 range/,
  );
  assert.match(
    refusal((c) => (c.network.public = '127.64.7.0/24')),
    /network\.public: 127\.64\.7\.0\/24 overlaps network\.arrays, 127\.64\.0\.0\/16/,
  );
  assert.match(
    refusal((c) => (c.network.vlans.first = 2000)),
    /network\.vlans: first is above last/,
  );
  assert.match(
    refusal((c) => (c.engine_types[0]!.max_cache_gb = 1)),
    /engine_types\[0\]\.max_cache_gb: must be at least/,
  );
  assert.match(
    refusal((c) => (c.policy_types[0]!.data_fragments = 2)),
    /policy_types\[0\]: data_fragments and parity_fragments/,
  );
  assert.match(
    refusal((c) => (c.app_engines[1]!.default = true)),
    /app_engines: more than one/,
  );
});
