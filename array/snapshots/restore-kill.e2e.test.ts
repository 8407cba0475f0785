import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Initiator } from '@granary/protocols/iscsi/testing';
import { seededRandom } from '../../testing/random.ts';
import { temporaryFolder } from '../../testing/folders.ts';
import { until } from '../../testing/waiting.ts';
import { arrayConfiguration, TestArrayProcess } from '../testing/array-process.ts';
import { MB } from '../units.ts';

const ROUNDS = process.env['GRANARY_TORTURE'] === '1' ? 20 : 2;
const IQN = 'iqn.2026-01.org.example:restore';
const SECTORS = MB / 512;

type Lun = ReturnType<Awaited<ReturnType<typeof Initiator.login>>['lun']>;

/**
 * Goal: after kill -9 during a restore a volume holds the whole snapshot or the whole of what it held before; once the
 * safety snapshot is listed, the restore is finished.
 * Method: one volume, filled with a byte per round; the array is killed at a random moment after the request was sent.
 */
test('after kill -9 a restore was not begun, or is finished', async (t) => {
  const random = seededRandom(t);
  const configuration = arrayConfiguration(temporaryFolder(t), 2, 1);
  let array = await TestArrayProcess.start(configuration);
  t.after(() => array.kill());
  const { client } = array;
  const { disks } = await client.drives.list({});
  const disk = disks.map(({ name }) => name);
  const { raidgroup_name } = await client.raidGroups.create({ display_name: 'r', protection: 'RAID1', disk });
  const { pool_name } = await client.pools.create({ display_name: 'p', raid_groups: [raidgroup_name] });
  const { vol_name: id } = await client.volumes.create({ name: 'v', capacity: 100, pool: pool_name });
  const { cg_name: volume_cg_id } = (await client.volumes.get({ id })).volume;
  const { server_name } = await client.servers.create({ display_name: 's', iqn: IQN });

  async function attached<T>(work: (lun: Lun) => Promise<T>): Promise<T> {
    await array.client.servers.attachVolumes({ id: [server_name], volume_name: [id] });
    const { vcontrollers } = await array.client.controllers.list({});
    const active = vcontrollers.find(({ state }) => state === 'active');
    assert.ok(active);
    const { lun } = (await array.client.volumes.get({ id })).volume;
    const port = configuration.dataPort;
    const to = { host: active.iscsi_ip, port, targetName: active.target, initiatorName: IQN };
    const session = await Initiator.login(to);
    const unit = session.lun(lun ?? 0);
    await unit.clearUnitAttentions();
    const result = await work(unit);
    await session.close();
    await array.client.volumes.detach({ id, servers: [server_name] });
    return result;
  }
  const fill = (byte: number) =>
    attached(async (lun) => {
      for (let at = 0; at < 4; at += 1) await lun.write(at * SECTORS, Buffer.alloc(MB, byte));
      await lun.synchronizeCache();
    });
  const content = () =>
    attached(async (lun) => {
      const parts: Buffer[] = [];
      for (let at = 0; at < 4; at += 1) parts.push(await lun.read(at * SECTORS, SECTORS));
      return Buffer.concat(parts);
    });

  for (let round = 1; round <= ROUNDS; round += 1) {
    const [before, after] = [2 * round, 2 * round + 1];
    await fill(before);
    const { snapshot_name: snapshot } = await array.client.snapshots.create({ volume_cg_id, display_name: `${round}` });
    await fill(after);
    const restored = array.client.volumes.restore({ id, snapshot, timeout: -1 }).catch(() => undefined);
    await sleep(random() * 25);
    await array.kill();
    const isAnswered = (await restored) !== undefined;
    array = await TestArrayProcess.start(configuration);
    await until(async () => (await array.client.volumes.get({ id })).volume.status === 'Available');
    const { snapshots } = await array.client.snapshots.listOfGroup({ volume_cg_id });
    const isBegun = snapshots.some(({ display_name }) => display_name === `Before restore of ${round}`);
    assert.ok(isBegun || !isAnswered, 'it was answered');
    const held = await content();
    assert.ok(held.equals(Buffer.alloc(4 * MB, isBegun ? before : after)), `round ${round}, begun: ${isBegun}`);
    t.diagnostic(isBegun ? 'finished' : 'not begun');
  }
});
