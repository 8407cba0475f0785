import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { checkArray } from '@granary/array';
import type { HostedConfiguration } from '@granary/kernel';
import { temporaryFolder } from '../testing/folders.ts';
import { until } from '../testing/waiting.ts';
import { TestArrayProcess, arrayConfiguration } from '../array/testing/array-process.ts';
import { Client3 } from '../protocols/nfs/testing/client3.ts';
import { RpcClient } from '../protocols/nfs/testing/rpc-client.ts';
import { makePool } from './block-array.ts';
import { bootGuest, skipWithoutGuest } from './linux-guest/guest.ts';

const isTorture = process.env['GRANARY_TORTURE'] === '1';
const skip = isTorture ? await skipWithoutGuest() : 'it takes long: npm run torture -- linux-client';
const VERSIONS = ['3', '4.0', '4.1'];
const GUEST_MS_MAX = 3_600_000;
const INITIATOR = 'iqn.2026-11.org.example:guest';
const QUOTA_UID = 1000;
const QUOTA_MB = 20;
/** Copies that must succeed after the array was killed. */
const COPIES_AFTER = 2;
const SHARE = '/export/files';
const GUEST_SEES = '10.0.2.100';
const PORTMAPPER = 111;

/** An array with a share that the test looks into, too. */
class KillableArray {
  readonly #configuration: HostedConfiguration;
  #process: TestArrayProcess | undefined;

  constructor(configuration: HostedConfiguration) {
    this.#configuration = configuration;
  }

  async start(): Promise<TestArrayProcess> {
    this.#process = await TestArrayProcess.start(this.#configuration);
    return this.#process;
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  names(): Promise<string[]> {
    return this.#mounted((share) => share.names(share.root));
  }

  async touch(name: string): Promise<void> {
    const { status } = await this.#mounted((share) => share.create(share.root, name));
    assert.equal(status, 0);
  }

  async #mounted<T>(work: (share: Client3) => Promise<T>): Promise<T> {
    const { management, filePort } = this.#configuration;
    const rpc = await RpcClient.open(filePort, management.host);
    rpc.credentials = { uid: 0, gid: 0 };
    try {
      return await work(await Client3.mount(rpc, SHARE));
    } finally {
      rpc.close();
    }
  }
}

test('Linux uses a share by NFS 3, 4.0 and 4.1 and a disk by iSCSI, while the array is killed', { skip }, async (t) => {
  const folder = temporaryFolder(t);
  const configuration = arrayConfiguration(folder, 2, 2);
  const killable = new KillableArray(configuration);
  t.after(() => killable.kill());
  const { client } = await killable.start();
  const { pool } = await makePool(client, 'main');
  const { vol_name: share } = await client.volumes.create({ name: 'files', capacity: 512, pool, block: false });
  // So that what was written and not committed is lost when the array is killed, and the client has to write it again.
  await client.volumes.update({ id: share, mountsync: false });
  const { server_name: web } = await client.servers.create({ display_name: 'guest', iscsi: '127.0.0.0/8' });
  await client.servers.attachVolumes({ id: [web], volume_name: [share], access_type: 'NFS' });
  await client.quotas.setState({ id: share, uquota: 'on' });
  const limit = { source_id: QUOTA_UID, source_type: 'user', nas_type: 'uid', limit: String(QUOTA_MB) } as const;
  await client.quotas.set({ id: share, quotas: [limit] });

  const { vol_name: disk } = await client.volumes.create({ name: 'disk', capacity: 128, pool });
  const { server_name: initiator } = await client.servers.create({ display_name: 'initiator', iqn: INITIATOR });
  await client.servers.attachVolumes({ id: [initiator], volume_name: [disk] });
  const { vcontrollers } = await client.controllers.list();
  const active = vcontrollers.find(({ state }) => state === 'active')!;

  const variables = { SHARE, TARGET: active.target, INITIATOR, QUOTA_UID };
  const set = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const job = readFileSync(new URL('./linux-guest/job.sh', import.meta.url), 'utf8');
  const { host } = configuration.management;
  const { filePort, dataPort } = configuration;
  const done: string[] = [];
  const failed: string[] = [];
  const kills: Promise<void>[] = [];
  const guest = bootGuest({
    job: [...set, job].join('\n'),
    folder,
    forwards: [
      { from: `${GUEST_SEES}:${filePort}`, host, port: filePort },
      { from: `${GUEST_SEES}:${PORTMAPPER}`, host, port: filePort },
      { from: `${GUEST_SEES}:${dataPort}`, host: active.iscsi_ip, port: dataPort },
    ],
    onLine: (line) => {
      t.diagnostic(`${new Date().toISOString().slice(11, 19)} ${line}`);
      const [mark, what, version = ''] = line.split(' ');
      if (line.startsWith('FAILED')) failed.push(line);
      if (mark === '##' && what === 'done') done.push(line.split(' ').slice(2, 4).join(' '));
      if (mark === '##' && what === 'load') kills.push(killUnderLoad(t, killable, version));
    },
  });
  t.after(() => guest.kill());
  const timer = setTimeout(() => guest.kill(), GUEST_MS_MAX);
  const status = await guest.status;
  clearTimeout(timer);
  await Promise.all(kills);
  assert.deepEqual(failed, []);
  assert.equal(status, 0);
  const steps = VERSIONS.flatMap((version) => ['tree', 'locks', 'quota', 'load'].map((step) => `${version} ${step}`));
  assert.deepEqual(done, [...steps, 'disk']);
  await killable.kill();
  assert.deepEqual((await checkArray(configuration)).problems, []);
});

/** Kills the array while the guest copies, and lets the guest stop once it has copied more afterwards. */
async function killUnderLoad(t: TestContext, array: KillableArray, version: string): Promise<void> {
  const copies = async () => (await array.names()).filter((name) => name.startsWith(`copy-${version}-`)).length;
  await until(async () => (await copies()) >= 1, `a copy is made by version ${version}`, GUEST_MS_MAX);
  const before = await copies();
  await array.kill();
  await array.start();
  t.diagnostic(`killed and started again after ${before} copies by version ${version}`);
  const enough = async () => (await copies()) >= before + COPIES_AFTER;
  await until(enough, `version ${version} copies on`, GUEST_MS_MAX);
  await array.touch(`stop-${version}`);
}
