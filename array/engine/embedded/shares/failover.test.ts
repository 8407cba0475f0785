import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Client3 } from '../../../../protocols/nfs/testing/client3.ts';
import { Client41, type Opened4, ops } from '../../../../protocols/nfs/testing/client4.ts';
import { RpcClient } from '../../../../protocols/nfs/testing/rpc-client.ts';
import { Op } from '../../../../protocols/nfs/v4/opcodes.ts';
import { Status4 } from '../../../../protocols/nfs/v4/status.ts';
import { CRASH } from '../../controllers/testing/break-at-will.ts';
import { insist, servedVolume, type ServedVolume, VOLUME } from '../../controllers/testing/served-volume.ts';
import { servedShare } from './testing/share-rig.ts';
import { partOf } from '../../parts.ts';

const PATIENCE_MS = 60_000;
const FILE_PORT = 2049;

async function connect(t: TestContext, { host }: ServedVolume): Promise<RpcClient> {
  const rpc = await insist(() => RpcClient.open(FILE_PORT, host), PATIENCE_MS);
  t.after(() => rpc.close());
  return rpc;
}

test('a failover and a crash keep shares, accounts, file handles, opens and locks', async (t) => {
  const served = await servedVolume(t);
  const { engine } = served;
  await engine.formatShare(VOLUME);
  await engine.putShare(servedShare(VOLUME, { exportNames: ['share'] }));
  await engine.putNasAccounts({ users: [{ name: 'ann', uid: 7, groups: [42] }], groups: [] });
  const plain = await Client3.mount(await connect(t, served), '/export/share');
  const group = await plain.create(plain.root, 'of the group', { mode: 0o640, gid: 42 });
  let holder = await Client41.connect(await connect(t, served), 'holder');
  const share = [ops.putRoot(), ops.lookup('export'), ops.lookup('share')];
  const open = ops.open({ name: 'f', create: 'unchecked', access: 3, deny: 2 });
  const opened = await holder.compound(...share, open, ops.get());
  const { state } = opened.results[3] as Opened4;
  const handle = opened.results[4] as Buffer;
  const put = ops.put(handle);
  assert.equal((await holder.compound(put, ops.write(state, 0, Buffer.from('kept')))).status, 0);
  for (const how of ['failover', 'crash']) {
    if (how === 'failover') await insist(() => partOf(engine, 'controllers').failover(), PATIENCE_MS);
    else await assert.rejects(engine.pauseMove(CRASH));
    const stranger = await Client41.connect(await connect(t, served), 'stranger');
    const early = await stranger.compound(...share, ops.open({ name: 'f', access: 1 }));
    assert.equal(early.status, Status4.grace, 'no client is ahead of the one that had it open');
    holder = new Client41(await connect(t, served), 'holder');
    await holder.identify();
    await holder.createSession();
    const claimed = await holder.compound(put, ops.open({ claim: 'previous', access: 3, deny: 2 }));
    assert.equal(claimed.status, 0);
    const again = (claimed.results[1] as Opened4).state;
    assert.equal((await holder.compound(put, ops.lock({ reclaim: true, open: { state: again } }))).status, 0);
    assert.equal((await holder.compound(ops.raw(Op.reclaimComplete, (args) => args.bool(false)))).status, 0);
    const read = await holder.compound(put, ops.read(again, 0, 10));
    assert.equal((read.results[1] as { data: Buffer }).data.toString(), 'kept');
    await insist(async () => {
      const denied = await stranger.compound(...share, ops.open({ name: 'f', access: 2 }));
      assert.equal(denied.status, Status4.shareDenied);
    }, PATIENCE_MS);
    const rpc = await connect(t, served);
    rpc.credentials = { uid: 7, gid: 7 };
    assert.equal((await new Client3(rpc, plain.root).read(group.handle, 0, 1)).status, 0, 'by a group of the account');
  }
});
