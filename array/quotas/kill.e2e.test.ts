import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../testing/waiting.ts';
import { seededRandom } from '../../testing/random.ts';
import { temporaryFolder } from '../../testing/folders.ts';
import { Client3 } from '../../protocols/nfs/testing/client3.ts';
import { RpcClient } from '../../protocols/nfs/testing/rpc-client.ts';
import { TestArrayProcess, arrayConfiguration } from '../testing/array-process.ts';
import { MB } from '../units.ts';

const isTorture = process.env['GRANARY_TORTURE'] === '1';
const ROUNDS = 20;
const DIRECTORIES = 20;
const FILES_OF_EACH = 20;

/**
 * Goal: a directory that was given to a project, and a file of quotas that was sent, are whole after kill -9, or as they
 * were before.
 * Method: the array is killed at a random moment while it moves a tree into or out of a project and sets quotas; when
 * it is up again the project is to have all of the tree or nothing, and the quotas all of the file or nothing.
 */
test(
  'after kill -9 a project has all of its directory, and an import all of its rows',
  { skip: !isTorture },
  async (t) => {
    const random = seededRandom(t);
    const configuration = arrayConfiguration(temporaryFolder(t), 2, 1);
    let array = await TestArrayProcess.start(configuration);
    t.after(() => array.kill());
    const { client } = array;
    const disk = (await client.drives.list({})).disks.map(({ name }) => name);
    const { raidgroup_name } = await client.raidGroups.create({ display_name: 'r', protection: 'RAID1', disk });
    const { pool_name: pool } = await client.pools.create({ display_name: 'p', raid_groups: [raidgroup_name] });
    const { vol_name: id } = await client.volumes.create({ name: 's', capacity: 128, pool, block: false });
    const { server_name } = await client.servers.create({ display_name: 'all', iscsi: '127.0.0.0/8' });
    await client.servers.attachVolumes({ id: [server_name], volume_name: [id], access_type: 'NFS' });
    await fillTree();
    await client.quotaProjects.create({ id, display_name: 'apollo' });
    const project = (await client.quotaProjects.list({ id })).projects[0]!;
    const named = { id, project_id: project.name, path: '/tree' };

    /** 1 MB in each of its directories. */
    async function fillTree(): Promise<void> {
      const rpc = await RpcClient.open(configuration.filePort, configuration.management.host);
      const mount = await Client3.mount(rpc, '/export/s');
      const { handle: tree } = await mount.mkdir(mount.root, 'tree');
      for (let n = 0; n < DIRECTORIES; n += 1) {
        const { handle } = await mount.mkdir(tree, `d${n}`);
        const names = Array.from({ length: FILES_OF_EACH }, (_, file) => `f${file}`);
        const made = await Promise.all(names.map((name) => mount.create(handle, name)));
        assert.ok(made.every(({ status }) => status === 0));
        await mount.write(made[0]!.handle, 0, Buffer.alloc(MB, 1));
      }
      rpc.close();
    }

    for (let round = 1; round <= ROUNDS; round += 1) {
      const isAdded = (await directories()).length === 0;
      const calls = array.client;
      const limit = round;
      const bytes = Buffer.from(
        `id,limit\n${Array.from({ length: 2_000 }, (_, n) => `${5_000 + n},${limit}`).join('\n')}`,
      );
      const file = { filename: 'quotas.csv', bytes };
      const working = [
        calls.quotas.import({ id, scope: 'user', file_format: 'csv', file }),
        isAdded ? calls.quotaProjects.addDirectory(named) : calls.quotaProjects.removeDirectory(named),
      ].map((call) => call.catch(() => undefined));
      await sleep(random() * 600);
      await array.kill();
      await Promise.all(working);
      array = await TestArrayProcess.start(configuration);
      await until(async () => (await directories()).every(({ status }) => status === 'Ready'), 'the work is done');
      await until(async () => new Set(await limits()).size <= 1, 'the import is done');
      const isIn = (await directories()).length === 1;
      const reported = await limits();
      t.diagnostic(`in the project: ${isIn}; ${reported.length} limits of ${reported[0] ?? 'nothing'} MB`);
      assert.equal(await usage(), isIn ? DIRECTORIES : 0);
      assert.ok([0, 2_000].includes(reported.length));
    }

    async function directories() {
      return (await array.client.quotaProjects.list({ id })).projects[0]!.directories;
    }

    async function limits(): Promise<string[]> {
      const { quotas } = await array.client.quotas.list({ id, scope: 'user' });
      return quotas.filter(({ source_id }) => Number(source_id) >= 5_000).map(({ hard }) => hard);
    }

    /** MB. */
    async function usage(): Promise<number> {
      const { quotas } = await array.client.quotas.list({ id, scope: 'project' });
      return Number(quotas[0]?.usage ?? 0);
    }
  },
);
