import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Operation } from '@granary/contract';
import { Initiator } from '@granary/protocols/iscsi/testing';
import type { Values } from '../kernel/http/testing/encodings.ts';
import { testArray } from './testing/test-array.ts';
import { testDisk } from './testing/test-disk.ts';
import * as things from './testing/things.ts';
import { arrayOperations, startWalk } from './testing/walk.ts';

/**
 * Goal: `start` and `limit` mean the same in every list of the array.
 * Method: every operation of the contract that takes both has three things made for it, where there can be three; its
 * pages are held against the whole list. One without an entry in `lists` fails.
 */
/** Makes what a list lists, one more at every call or all at once, and returns what it is a list of. */
type Make = () => Promise<unknown>;

/** As many can be made of everything that is not in `few`. */
const WANTED = 3;

const walk = await startWalk({ after });
const { client, array, api } = walk;
// A target for each controller tells the sessions of a server apart.
await array.restart({ dualTarget: true });

/** Each with a pool of its own, and the first with three. */
const remotes = () =>
  walk.kept('remotes', () =>
    Promise.all(
      [4, 5, 6].map(async (number) => {
        const isFirst = number === 4;
        const remote = await testArray(walk.t, {
          drives: isFirst ? 6 : 2,
          uuid: `6f1f5f6e-0000-4000-8000-00000000000${number}`,
          internalName: `vsa-0000000${number}`,
          displayName: `Other ${number}`,
        });
        if (isFirst) for (let made = 0; made < WANTED; made++) await remote.pool();
        const { management, owner: user, initialPasscode: password } = remote.configuration;
        const known = { ip: `${management.host}:${management.port}`, user, password };
        const { remote_array_name: name } = await client.call(api.remoteArrays.discover, known);
        return { remote, name };
      }),
    ),
  );

const mirrored = async () => {
  const { remote, name: id } = (await remotes())[0]!;
  const { remote_pools: pools } = await client.call(api.remoteArrays.listPools, { id });
  const { remote_name, name: remote_pool } = pools[0]!;
  await walk.kept('mirrors', async () => {
    for (let made = 0; made < WANTED; made++) {
      await client.call(api.consistencyGroups.mirror, {
        volume_cg_id: await things.groupOf(walk, await things.newVolume(walk)),
        display_name: walk.name('mirror'),
        remote_pool,
        policy: await things.policy(walk),
        new_cg_name: walk.name('copy'),
      });
    }
  });
  return { remote, pool: remote_name };
};

/** A server of its own with a session to each controller. */
const connected = async () => {
  const id = await things.newVolume(walk);
  await testDisk(walk.t, array, id);
  const { servers } = await client.call(api.volumes.listServers, { id });
  const { vcontrollers } = await client.call(api.controllers.list, {});
  const passive = vcontrollers.find(({ state }) => state !== 'active')!;
  const session = await Initiator.login({
    host: passive.iscsi_ip,
    port: array.configuration.dataPort,
    targetName: passive.target,
    initiatorName: `iqn.2026-01.org.example:${id}`,
  });
  walk.t.after(() => session.close().catch(() => undefined));
  return servers[0]!.name;
};

const share = () => things.share(walk);
const volume = () => things.volume(walk);
const pool = () => things.pool(walk);
const server = () => things.server(walk);
const restorable = () => walk.kept('restorable', () => things.restorable(walk));
const controller = () => `${array.configuration.internalName}-vc-0`;

const groups = () => walk.kept('groups', async () => [await array.group(), await array.group(), await array.group()]);

const tags =
  (of: 'poolTags' | 'volumeTags' | 'serverTags', thing: () => Promise<string>): Make =>
  async () => {
    const id = await thing();
    await client.call(api[of].create, { id, key: walk.name('key'), value: 'web' });
    return { id };
  };

const lists: Readonly<Record<string, Make>> = {
  'users.list': () => client.call(api.users.create, { username: walk.name('user'), password: 'correct horse' }),
  'drives.list': () => walk.freeDrives(WANTED),
  'drives.listFree': () => walk.freeDrives(WANTED),
  'raidGroups.list': groups,
  'raidGroups.listFree': groups,
  'raidGroups.listDrives': async () => ({ id: await walk.kept('four', () => array.group({ protection: 'RAID6' })) }),
  'pools.list': () => array.pool(),
  'pools.listRaidGroups': async () => ({
    id: await walk.kept('wide', async () => {
      const wide = [await array.group(), await array.group(), await array.group()];
      return array.pool({ groups: wide });
    }),
  }),
  'pools.listVolumes': async () => {
    await things.newVolume(walk);
    return { id: await pool() };
  },
  'pools.listDestinationVolumes': async () => ({ id: (await mirrored()).pool }),
  'pools.listRecycleBin': async () => {
    await things.binned(walk);
    return { id: await pool() };
  },
  'forecasts.list': () => array.pool(),
  'poolTags.list': tags('poolTags', pool),
  'volumes.list': () => things.newVolume(walk),
  'volumes.listFree': () => things.newVolume(walk),
  'volumes.listServers': async () => {
    const id = await volume();
    await client.call(api.servers.attachVolumes, {
      id: [await things.newServer(walk)],
      volume_name: [id],
      force: true,
    });
    return { id };
  },
  'volumes.listFileHistory': async () => {
    const id = await share();
    const policy = await things.newPolicy(walk);
    await client.call(api.snapshotPolicies.attach, { id, policy, application: 'file_history' });
    return { id };
  },
  'volumeTags.list': tags('volumeTags', volume),
  'snapshots.list': () => things.newSnapshot(walk),
  'snapshots.listOfGroup': async () => {
    const volume_cg_id = await things.groupOf(walk, await volume());
    await client.call(api.snapshots.create, { volume_cg_id, display_name: walk.name('snapshot') });
    return { volume_cg_id };
  },
  'snapshotPolicies.list': () => things.newPolicy(walk),
  'snapshotPolicies.listOfGroup': async () => {
    const id = await volume();
    const policy = await things.newPolicy(walk);
    await client.call(api.snapshotPolicies.attach, { id, policy, application: 'user' });
    return { volume_cg_id: await things.groupOf(walk, id) };
  },
  'mirrorJobs.list': mirrored,
  'remoteArrays.list': remotes,
  'remoteArrays.listPools': async () => ({ id: (await remotes())[0]!.name }),
  'servers.list': () => things.newServer(walk),
  'servers.listSessions': async () => ({ id: await connected() }),
  'servers.listVolumes': async () => ({ id: (await things.attached(walk)).server }),
  'serverTags.list': tags('serverTags', server),
  'quotas.list': async () => {
    const id = await share();
    const quotas = [1, 2, 3].map((source_id) => {
      return { source_id, source_type: 'user', nas_type: 'uid', limit: '1024' } as const;
    });
    await client.call(api.quotas.set, { id, quotas });
    return { id, scope: 'user' };
  },
  'quotaProjects.list': async () => ({ id: (await things.newProject(walk, await share())).id }),
  'nasUsers.list': () => things.nasUser(walk),
  'nasGroups.list': () => things.nasGroup(walk),
  'fileHistory.listRestores': async () => {
    const wanted = await restorable();
    await client.call(api.fileHistory.restore, wanted);
    return { id: wanted.id };
  },
  'fileCategories.list': () => things.newCategory(walk),
  'objectStorageDestinations.list': async () =>
    client.call(api.objectStorageDestinations.create, await things.bucket(walk)),
  'controllers.list': async () => ({}),
  'controllers.listVirtualNetworks': () =>
    array.change({
      dualTarget: true,
      interfaces: [1, 2, 3].map((id) => {
        return { id, address: `192.0.2.${id}`, netmask: '255.255.255.0', gateway: null, vlanId: id };
      }),
    }),
  'controllers.listSessions': async () => {
    await connected();
    return { id: controller() };
  },
  // Of one kind: events of the array's own work come by themselves.
  'messages.list': async () => ({
    attr_key: 'kind',
    attr_value: 'volume',
    sort: JSON.stringify([{ property: 'msg_id', direction: 'ASC' }]),
  }),
  'sessions.list': () => {
    const { username, password } = walk.admin;
    return client.call(api.sessions.create, { username, password });
  },
  'webhooks.list': () =>
    client.call(api.webhooks.create, { name: walk.name('hook'), target_url: 'http://127.0.0.1:9/', severity: 0 }),
};

/** Of these there cannot be three. */
const few: Readonly<Record<string, number>> = { 'controllers.list': 2, 'servers.listSessions': 2 };

/** Those of a remote array, which knows other callers. */
const elsewhere = new Set(['pools.listDestinationVolumes']);

interface Listed {
  readonly names: readonly unknown[];
  readonly count: number;
}

/** What tells the records of a list apart: the rest may change while the array works. */
function namesOf(records: readonly Readonly<Record<string, unknown>>[]): unknown[] {
  const keys = ['name', 'msg_id', 'id', 'username', 'groupname', 'key', 'source_id'];
  return records.map((record) => {
    const key = keys.find((one) => record[one] !== undefined);
    return key === undefined ? JSON.stringify(record) : record[key];
  });
}

async function listed(operation: Operation, values: Values): Promise<Listed> {
  const { endpoint, id } = operation;
  const from = elsewhere.has(id) ? (await mirrored()).remote.client : client;
  const { count, ...reply } = (await from.call(endpoint, values)) as { count: number };
  const records = Object.values(reply).find((value) => Array.isArray(value)) as Readonly<Record<string, unknown>>[];
  return { names: namesOf(records), count };
}

const paged = arrayOperations.filter(({ endpoint: { params } }) => 'start' in params && 'limit' in params);

async function walkList(operation: Operation): Promise<void> {
  const { id } = operation;
  const make = lists[id];
  assert.ok(make, `${id} has no entry in lists`);
  const least = few[id] ?? WANTED;
  let values: Values = {};
  let all: Listed = { names: [], count: 0 };
  for (let made = 0; made < WANTED && all.count < least; made++) {
    const of = ((await make()) ?? {}) as Values;
    const names = Object.keys(operation.endpoint.params);
    values = Object.fromEntries(Object.entries(of).filter(([name]) => names.includes(name)));
    all = await listed(operation, values);
  }
  assert.ok(all.count >= least, `${id}: ${all.count} in the list`);
  assert.equal(new Set(all.names).size, all.count, `${id}: no two are the same`);
  for (const [start, limit] of [
    [1, 1],
    [0, 1],
    [1, 2],
    [all.count, 1],
  ] as const) {
    const page = await listed(operation, { ...values, start, limit });
    const wanted = { names: all.names.slice(start, start + limit), count: all.count };
    assert.deepEqual(page, wanted, `${id} with start=${start} and limit=${limit}`);
  }
}

test('every list begins at start and has at most limit records', async () => {
  assert.deepEqual(Object.keys(lists).sort(), paged.map(({ id }) => id).sort());
  for (const operation of paged) await walkList(operation);
});
