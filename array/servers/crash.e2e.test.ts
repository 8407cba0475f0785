import assert from 'node:assert/strict';
import { join } from 'node:path';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { temporaryFolder } from '../../testing/folders.ts';
import { Initiator } from '../../protocols/iscsi/testing/index.ts';
import { TestArrayProcess, arrayConfiguration } from '../testing/array-process.ts';

const IQN = 'iqn.2026-01.org.example:web-1';

test('kill -9 right after the answers: what was attached is served, what was detached is not', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'array'), { recursive: true });
  const configuration = arrayConfiguration(folder, 2, 1);
  const first = await TestArrayProcess.start(configuration);
  t.after(() => first.kill());
  const { drives, raidGroups, pools, volumes, servers } = first.client;
  const { disks } = await drives.listFree({});
  const disk = disks.map(({ name }) => name);
  const { raidgroup_name } = await raidGroups.create({ display_name: 'group', protection: 'RAID1', disk });
  const made = { display_name: 'pool', raid_groups: [raidgroup_name] } as never;
  const { pool_name: pool } = await pools.create(made);
  const volume = async (name: string) => (await volumes.create({ name, pool, capacity: 100 })).vol_name;
  const [kept, lost] = [await volume('kept'), await volume('lost')];
  const chap = { arraychapuser: 'web', arraychapsecret: 'twelve bytes' };
  const { server_name: id } = await servers.create({ display_name: 'web-1', iqn: IQN, ...chap });
  await servers.attachVolumes({ id: [id], volume_name: [lost, kept] });
  await volumes.detach({ id: lost, servers: [id] });
  await first.kill();

  const second = await TestArrayProcess.start(configuration);
  t.after(() => second.stop());
  const { volumes: attached } = await second.client.servers.listVolumes({ id });
  assert.deepEqual(
    attached.map(({ name, lun, status }) => [name, lun, status]),
    [[kept, 1, 'In-use']],
  );
  const { vcontrollers } = await second.client.controllers.list({});
  const session = await Initiator.login({
    host: configuration.management.host,
    port: configuration.dataPort,
    initiatorName: IQN,
    targetName: vcontrollers[0]!.target,
    chap: { username: 'web', secret: 'twelve bytes' },
  });
  assert.deepEqual(await session.lun(1).reportLuns(), [1]);
  await session.close();
});
