import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { arrayApi } from '@granary/contract/array';
import { testArray, type TestArray } from '../../testing/test-array.ts';
import { Relay } from './relay.ts';

const { remoteArrays, mirrorJobs, consistencyGroups, snapshots, snapshotPolicies, volumes } = arrayApi.groups;
const WAIT_MS_MAX = 40_000;
const LOOK_EVERY_MS = 50;

/** Two arrays with a pool each, the first of which knows the second, over a cable that can be cut. */
export async function mirrorPair(t: TestContext, driveGb = 1): Promise<MirrorPair> {
  const [source, destination] = await Promise.all([
    testArray(t, { driveGb }),
    testArray(t, {
      driveGb,
      uuid: '6f1f5f6e-0000-4000-8000-000000000002',
      internalName: 'vsa-00000002',
      displayName: 'Offsite',
    }),
  ]);
  const { host, port } = destination.configuration.management;
  const relay = await Relay.to(t, host, port);
  const [pool, remotePool] = await Promise.all([source.pool({ name: 'near' }), destination.pool({ name: 'far' })]);
  await source.client.call(remoteArrays.discover, { ip: relay.address, user: 'dana', password: 'first passcode' });
  const manual = { display_name: 'by hand', create_policy: 'manual', delete_policy: 'N3', destination_policy: 'N2' };
  const { snapshot_policy } = (await source.client.call(snapshotPolicies.create, manual)) as {
    snapshot_policy: { name: string };
  };
  return new MirrorPair(source, destination, relay, pool, remotePool, snapshot_policy.name);
}

class MirrorPair {
  readonly source: TestArray;
  readonly destination: TestArray;
  readonly relay: Relay;
  readonly pool: string;
  readonly remotePool: string;
  readonly policy: string;
  #made = 0;

  constructor(
    source: TestArray,
    destination: TestArray,
    relay: Relay,
    pool: string,
    remotePool: string,
    policy: string,
  ) {
    this.source = source;
    this.destination = destination;
    this.relay = relay;
    this.pool = pool;
    this.remotePool = remotePool;
    this.policy = policy;
  }

  async group(volume: string): Promise<string> {
    return (await this.source.client.call(volumes.get, { id: volume })).volume.cg_name;
  }

  /** What a call that mirrors the volume says. */
  async request(volume: string, name = `copy ${++this.#made}`) {
    return {
      volume_cg_id: await this.group(volume),
      display_name: `mirror to ${name}`,
      remote_pool: 'rpool-00000001',
      policy: this.policy,
      new_cg_name: name,
    };
  }

  /** The mirror, and its volume at the destination. */
  async mirror(volume: string): Promise<Mirror> {
    const request = await this.request(volume);
    const { array_mirror_job_name: job } = await this.source.client.call(consistencyGroups.mirror, request);
    const list = await this.destination.client.call(volumes.list, { display_name: request.new_cg_name });
    const { array_mirror_jobs } = await this.destination.client.call(mirrorJobs.list, {});
    const there = array_mirror_jobs.find(({ dst }) => dst.cg_display_name === request.new_cg_name);
    assert.ok(list.volumes[0] && there);
    return { job, remoteJob: there.job_name, copy: list.volumes[0].name };
  }

  async snapshot(volume: string, name: string): Promise<string> {
    const wanted = { volume_cg_id: await this.group(volume), display_name: name };
    return (await this.source.client.call(snapshots.create, wanted)).snapshot_name;
  }

  async show(job: string, array = this.source) {
    return (await array.client.call(mirrorJobs.get, { id: job })).array_mirror_job;
  }

  /** Until the destination has as many snapshots of it, whole. */
  async shipped(copy: string, count: number): Promise<void> {
    const { cg_name } = (await this.destination.client.call(volumes.get, { id: copy })).volume;
    await this.until(async () => {
      const found = await this.destination.client.call(snapshots.listOfGroup, { volume_cg_id: cg_name });
      return found.count >= count;
    }, `${copy} has ${count} snapshots`);
  }

  async status(job: string, wanted: RegExp, array = this.source): Promise<void> {
    await this.until(async () => wanted.test((await this.show(job, array)).status), `${job} is ${wanted.source}`);
  }

  async until(check: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const giveUpAt = performance.now() + WAIT_MS_MAX;
    while (!(await check())) {
      assert.ok(performance.now() < giveUpAt, `waited too long until ${what}`);
      await sleep(LOOK_EVERY_MS);
    }
  }
}

interface Mirror {
  readonly job: string;
  readonly remoteJob: string;
  readonly copy: string;
}
