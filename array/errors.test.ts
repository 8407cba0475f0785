import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { after, test } from 'node:test';
import { pathParams, type Operation, type Param } from '@granary/contract';
import { until } from '../testing/waiting.ts';
import type { Values } from '../kernel/http/testing/encodings.ts';
import { isDeclared } from '../kernel/process/testing/declared.ts';
import { placeDrives } from './testing/drives.ts';
import * as things from './testing/things.ts';
import { validValues } from './testing/valid-requests.ts';
import { arrayOperations, startWalk } from './testing/walk.ts';

/**
 * Goal: what goes wrong is reported by the code the specification has for it, in words that say what to do.
 * Method: one array in which everything that can stand in the way does; and every operation, sent to things that do
 * not exist.
 */
const walk = await startWalk({ after });
const { admin, array, client, api } = walk;

const operationOf = (id: string) => {
  const found = arrayOperations.find((one) => one.id === id);
  assert.ok(found, `${id} is not served`);
  return found;
};

async function refusal(operation: Operation, values: Values): Promise<{ code: number; message: string }> {
  const { http, text } = await walk.ask(operation, values, admin.key);
  const { response } = JSON.parse(text) as { response: { status: number; message: string } };
  assert.equal(http, 200, text);
  assert.notEqual(response.status, 0, `${operation.id} was not refused`);
  return { code: response.status, message: response.message };
}

/** What stands in the way. */
async function obstacles() {
  const [pool, group] = [await things.pool(walk), await things.group(walk)];
  const volume = await array.volume(pool, { name: 'reports' });
  const cg = await things.groupOf(walk, volume);
  await client.call(api.snapshots.create, { volume_cg_id: cg, display_name: 'yesterday' });
  await client.call(api.volumeTags.create, { id: volume, key: 'owner', value: 'web team' });
  const { id: attached, server } = await things.attached(walk);
  const tight = await array.pool();
  await client.call(api.pools.updateProtection, { id: tight, emergencymode: 1000 });
  const modeOf = async () => (await client.call(api.pools.get, { id: tight })).pool.capacity_mode;
  await until(async () => (await modeOf()) === 'emergency', 'the pool knows');
  const { drives } = array.configuration;
  await array.change({ drives: [...drives, ...placeDrives(dirname(drives[0]!.file), [100], 2)] });
  const { disks } = await client.call(api.drives.listFree, {});
  const ofSize = (gb: number) => disks.filter(({ capacity }) => capacity === gb).map(({ name }) => name);
  const [free, large] = [ofSize(1), ofSize(2)[0]!];
  return { pool, group, volume, cg, attached, server, other: await things.newServer(walk), tight, free, large };
}

const made = await obstacles();

type Case = readonly [what: string, operation: string, values: () => Values, code: number, message: RegExp];

const group = (disk: string[], more: Values = {}) => ({ display_name: 'x', protection: 'RAID1', disk, ...more });
const volume = (more: Values = {}) => ({ name: 'x', capacity: '1G', pool: made.pool, ...more });
const chap = { display_name: 'x', iqn: 'iqn.2026-01.org.example:x', arraychapuser: 'array' };

const cases: readonly Case[] = [
  [
    'a drive that is in a RAID group',
    'raidGroups.create',
    () => group(['volume-00000001', made.free[0]!]),
    10101,
    /^Drive ssd-1 \(volume-00000001\) is in use by RAID group .+ \(RaidGroup-\d+\)/,
  ],
  [
    'drives of different sizes',
    'raidGroups.create',
    () => group([made.free[0]!, made.large]),
    10110,
    /^The drives have 1 and 2 GiB; choose drives of one size, or use force=YES/,
  ],
  [
    'RAID6 of three drives',
    'raidGroups.create',
    () => group(made.free.slice(0, 3), { protection: 'RAID6' }),
    7,
    /^disk names 3 drives: RAID6 takes 4 to 10 drives\.$/,
  ],
  ['a drive twice', 'raidGroups.create', () => group([made.free[0]!, made.free[0]!]), 7, /^disk /],
  [
    'a pool with volumes',
    'pools.delete',
    () => ({ id: made.pool }),
    10102,
    /^Pool .+ \(pool-\w+\) still has \d+ volumes?, .*delete or migrate them first/,
  ],
  [
    'a RAID group in a pool, deleted',
    'raidGroups.delete',
    () => ({ id: made.group }),
    10105,
    /belongs to pool .+ \(pool-\w+\); shrink or delete the pool first/,
  ],
  [
    'a RAID group in a pool, taken for another',
    'pools.create',
    () => ({ display_name: 'x', raid_groups: [made.group] }),
    10105,
    /belongs to pool .+ \(pool-\w+\)/,
  ],
  [
    'a volume that is attached, deleted',
    'volumes.delete',
    () => ({ id: made.attached }),
    10103,
    /^Volume .+ \(volume-\w+\) is attached to .+ \(srv-\w+\); detach it first/,
  ],
  [
    'a volume that another server has',
    'servers.attachVolumes',
    () => ({ id: made.other, volume_name: [made.attached] }),
    10103,
    /is attached to .+ \(srv-\w+\); detach it first, or use force=YES/,
  ],
  [
    'a volume with snapshots',
    'volumes.delete',
    () => ({ id: made.volume }),
    10104,
    /^Volume .+ \(volume-\w+\) has 1 snapshot; delete them first or use force=YES/,
  ],
  [
    'a LUN that is taken',
    'servers.attachVolumes',
    () => ({ id: made.server, volume_name: [made.volume], lun: 0 }),
    10106,
    /^LUN 0 is taken on server .+ \(srv-\w+\); choose another or leave it out/,
  ],
  [
    'one LUN for two volumes',
    'servers.attachVolumes',
    () => ({ id: made.server, volume_name: [made.volume, made.attached], lun: 5 }),
    7,
    /^lun can be given for one volume only/,
  ],
  ['a server without a name of its own', 'servers.create', () => ({ display_name: 'x' }), 7, /\biqn\b/],
  [
    'a CHAP secret of 11 characters',
    'servers.create',
    () => ({ ...chap, arraychapsecret: 'x'.repeat(11) }),
    7,
    /^arraychapsecret must have at least 12 characters/,
  ],
  [
    'a CHAP secret of 17 characters',
    'servers.create',
    () => ({ ...chap, arraychapsecret: 'x'.repeat(17) }),
    7,
    /^arraychapsecret must have at most 16 characters/,
  ],
  [
    'the name of another volume',
    'volumes.create',
    () => volume({ name: 'reports' }),
    10096,
    /^The name reports is taken/,
  ],
  [
    'the name of another snapshot',
    'snapshots.create',
    () => ({ volume_cg_id: made.cg, display_name: 'yesterday' }),
    10096,
    /^The name yesterday is taken/,
  ],
  [
    'a pool that is nearly full',
    'volumes.create',
    () => volume({ pool: made.tight }),
    10202,
    /^Pool .+ \(pool-\w+\) is in emergency mode: .*Expand it, delete something, or change its protection/,
  ],
  [
    'encryption without a password',
    'volumes.create',
    () => volume({ crypt: 'YES' }),
    10108,
    /set one in the encryption settings/,
  ],
  [
    'a share with caps',
    'volumes.create',
    () => volume({ block: 'NO', read_iops_capping: 5 }),
    7,
    /^read_iops_capping is for block volumes/,
  ],
  [
    'an export name of a block volume',
    'volumes.create',
    () => volume({ export_name: 'x' }),
    7,
    /^export_name is for file shares/,
  ],
  [
    'a block volume',
    'volumes.addExportName',
    () => ({ id: made.volume, exportname: 'x' }),
    10100,
    /is a block volume; this is for file shares/,
  ],
  ['IPsec', 'servers.update', () => ({ id: made.other, ipsec_iscsi: 'YES' }), 10109, /ipsec_iscsi/],
  [
    'a tag that is there',
    'volumeTags.create',
    () => ({ id: made.volume, key: 'owner', value: 'mail team' }),
    10096,
    /^The name owner is taken/,
  ],
];

for (const [what, id, values, code, message] of cases) {
  test(`${id} refuses ${what} with ${code}`, async () => {
    const refused = await refusal(operationOf(id), values());
    assert.equal(refused.code, code, refused.message);
    assert.match(refused.message, message);
  });
}

/** Of things that do not exist, by the first part of the path or by the group a parameter names. */
const notFound: Readonly<Record<string, number>> = {
  users: 10093,
  drives: 10082,
  raid_groups: 10009,
  raidGroups: 10009,
  pools: 10080,
  volumes: 10081,
  snapshots: 10083,
  snapshot_policies: 10084,
  snapshotPolicies: 10084,
  consistency_groups: 10085,
  servers: 10086,
  vcontrollers: 10087,
  migration_jobs: 10088,
  mirror_jobs: 10088,
  remote_arrays: 10089,
  tags: 10090,
};

function codeInPath({ endpoint: { path } }: Operation, name: string): number | undefined {
  if (name === 'tag_key') return notFound['tags'];
  return path.endsWith('/show_migration') ? 10088 : notFound[path.split('/')[1] ?? ''];
}

function codeInBody({ refers, item }: Param): number | undefined {
  const { group: of, field } = refers ?? item?.refers ?? {};
  return field === 'cg_name' ? notFound['consistency_groups'] : notFound[of ?? ''];
}

for (const operation of arrayOperations) {
  const inPath = pathParams(operation.endpoint.path);
  const named = Object.entries(operation.endpoint.params).flatMap(([name, param]) => {
    const code = inPath.includes(name) ? codeInPath(operation, name) : codeInBody(param);
    const isMust = param.presence === 'required';
    return isMust && code !== undefined
      ? [{ name, code, isList: param.kind === 'list' && !inPath.includes(name) }]
      : [];
  });
  if (named.length === 0) continue;
  test(`${operation.id} says what is not there: ${named.map(({ name }) => name).join(', ')}`, async () => {
    const values = await validValues(operation, walk, admin);
    for (const { name, code, isList } of named) {
      const unknown = 'nowhere-00000001';
      const list = isList ? (values[name] as string[]).with(0, unknown) : unknown;
      const refused = await refusal(operation, { ...values, [name]: list });
      assert.equal(refused.code, code, `${name}: ${refused.message}`);
      assert.ok(refused.message.includes(unknown), refused.message);
      assert.ok(isDeclared(operation.endpoint, code), `the contract lacks error ${code}`);
    }
  });
}
