import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../../testing/waiting.ts';
import { MIB } from '../testing/rig.ts';
import { shareRig } from './testing/share-rig.ts';

const QUOTA = 69;

test('quotas are enforced as their switches say, and reported with what is used', async (t) => {
  const rig = await shareRig(t);
  await rig.share('files');
  const { shares } = rig;
  const client = await rig.client3('files', 7);
  assert.deepEqual(await shares.quotaState('files'), { user: false, group: false, project: false });
  await shares.setQuotas('files', [
    { scope: 'user', id: 7, limitBytes: MIB },
    { scope: 'group', id: 9, limitBytes: 5 * MIB },
  ]);
  const { handle } = await client.create(client.root, 'f', {});
  assert.equal((await client.write(handle, 0, Buffer.alloc(MIB, 1))).status, 0);
  await shares.setQuotaState('files', { user: true, group: false, project: false });
  assert.equal((await rig.reported('files'))?.share?.quotas.user, true);
  assert.equal((await client.write(handle, MIB, Buffer.alloc(4096, 1))).status, QUOTA);
  const used = { scope: 'user', id: 7, limitBytes: MIB, usedBytes: MIB, files: 1 };
  assert.deepEqual(await shares.quota('files', 'user', 7), used);
  const all = await shares.quotas('files', 'user', 0, 10);
  assert.deepEqual(
    all.map(({ id }) => id),
    [0, 7],
  );
  assert.deepEqual(await shares.quotas('files', 'user', 1, 10), [used]);
  const bad = { scope: 'user', id: 8, limitBytes: -1 } as const;
  await assert.rejects(shares.setQuotas('files', [{ ...bad, id: 7, limitBytes: 2 * MIB }, bad]), { code: 'invalid' });
  assert.deepEqual(await shares.quota('files', 'user', 7), used);
  await assert.rejects(shares.quota('nothing', 'user', 7), { code: 'not-found' });
});

test('a project has everything below its directory', async (t) => {
  const rig = await shareRig(t);
  await rig.share('files');
  const { shares } = rig;
  const client = await rig.client3('files');
  const top = await client.mkdir(client.root, 'top');
  const inner = await client.mkdir(top.handle, 'inner');
  for (let number = 0; number < 300; number += 1) {
    const { handle } = await client.create(inner.handle, `f${number}`, {});
    if (number < 10) await client.write(handle, 0, Buffer.alloc(8192, 1));
  }
  const seen: number[] = [];
  await shares.setProject('files', '/top', 5, { onProgress: (fraction) => seen.push(fraction) });
  const usage = await shares.quota('files', 'project', 5);
  assert.deepEqual([usage.files, usage.usedBytes], [302, 81_920]);
  assert.ok(seen.length > 1 && seen.every((fraction) => fraction > 0 && fraction <= 1));
  await client.create(inner.handle, 'new', {});
  assert.equal((await shares.quota('files', 'project', 5)).files, 303);
  await shares.setProject('files', '/top', 0, {});
  assert.equal((await shares.quota('files', 'project', 5)).files, 0);
  await assert.rejects(shares.setProject('files', '/nowhere', 5, {}), { code: 'not-found' });
  await assert.rejects(shares.setProject('files', '/top/inner/f0', 5, {}), { code: 'invalid' });
});

test('reports tell who uses a share, how much, and what each server moves', async (t) => {
  const rig = await shareRig(t);
  await rig.share('files');
  const client = await rig.client3('files');
  const { handle } = await client.create(client.root, 'f', {});
  await client.write(handle, 0, Buffer.alloc(8192, 1));
  await client.read(handle, 0, 4096);
  const volume = await rig.reported('files');
  assert.equal(volume?.share?.files, 2);
  assert.ok(volume.share.usedBytes > 8192);
  assert.deepEqual([volume.io.writes.count, volume.io.writes.bytes, volume.io.reads.bytes], [1, 8192, 4096]);
  const { sessions, servers, version } = await rig.rig.report();
  const address = client.rpc.socket.localAddress;
  const [session] = sessions;
  assert.deepEqual(
    { ...session, io: session?.io.writes.bytes },
    {
      ...{ protocol: 'NFS', server: 'srv-00000001', initiator: address, address, target: '/export/files' },
      ...{ controller: 'vc-0', connections: 1, io: 8192 },
    },
  );
  assert.deepEqual(
    servers.map(({ id, io }) => [id, io.reads.bytes]),
    [['srv-00000001', 4096]],
  );
  await client.read(handle, 0, 4096);
  const [again] = (await rig.rig.report(version)).volumes;
  assert.equal(again?.io.reads.count, 2, 'a share that is read is reported again');
  assert.equal(await rig.engine.dropSessions(address!, '/export/files'), 1);
  await until(async () => (await rig.rig.report()).sessions.length === 0, 'the session is gone');
});
