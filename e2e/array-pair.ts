import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { ArrayClient } from '@granary/client';
import type { HostedConfiguration } from '@granary/kernel';
import { temporaryFolder } from '../testing/folders.ts';
import { until } from '../testing/waiting.ts';
import { Relay } from '../array/mirror-jobs/testing/relay.ts';
import { TestArrayProcess, arrayConfiguration } from '../array/testing/array-process.ts';
import { makePool } from './block-array.ts';

const DRIVE_GB = 2;
const STATUS_MS_MAX = 120_000;

type Side = 'source' | 'destination';

/** Two arrays in processes of their own, with a cable between them that can be cut. */
export class ArrayPair {
  readonly relay: Relay;
  readonly pool: string;
  readonly policy: string;
  readonly #configurations: Readonly<Record<Side, HostedConfiguration>>;
  readonly #processes: Record<Side, TestArrayProcess>;

  static async start(t: TestContext): Promise<ArrayPair> {
    const folder = temporaryFolder(t);
    const configurations = {
      source: arrayConfiguration(join(folder, 'source'), 2, DRIVE_GB),
      destination: {
        ...arrayConfiguration(join(folder, 'destination'), 2, DRIVE_GB),
        uuid: '6f1f5f6e-0000-4000-8000-000000000002',
        internalName: 'vsa-00000002',
        displayName: 'Offsite',
      },
    };
    const [source, destination] = await Promise.all([
      TestArrayProcess.start(configurations.source),
      TestArrayProcess.start(configurations.destination),
    ]);
    const processes = { source, destination };
    t.after(() => Promise.all(Object.values(processes).map((array) => array.kill())));
    const { host, port } = configurations.destination.management;
    const relay = await Relay.to(t, host, port);
    const { pool } = await makePool(source.client, 'near');
    await makePool(destination.client, 'far');
    const { owner: user, initialPasscode: password } = configurations.destination;
    await source.client.remoteArrays.discover({ ip: relay.address, user, password });
    const { snapshot_policy: policy } = await source.client.snapshotPolicies.create({
      display_name: 'by hand',
      create_policy: 'manual',
      delete_policy: 'N9',
      destination_policy: 'N3',
    });
    return new ArrayPair({ configurations, processes, relay, pool, policy: policy.name });
  }

  private constructor(made: {
    configurations: Readonly<Record<Side, HostedConfiguration>>;
    processes: Record<Side, TestArrayProcess>;
    relay: Relay;
    pool: string;
    policy: string;
  }) {
    this.#configurations = made.configurations;
    this.#processes = made.processes;
    this.relay = made.relay;
    this.pool = made.pool;
    this.policy = made.policy;
  }

  get source(): ArrayClient {
    return this.#processes.source.client;
  }

  get destination(): ArrayClient {
    return this.#processes.destination.client;
  }

  async kill(side: Side): Promise<void> {
    await this.#processes[side].kill();
  }

  async startAgain(side: Side): Promise<void> {
    this.#processes[side] = await TestArrayProcess.start(this.#configurations[side]);
  }

  /** The mirror of a volume, and its volume at the destination. */
  async mirror(volume: string, name: string): Promise<{ job: string; copy: string }> {
    const { remote_pools: pools } = await this.source.remoteArrays.listPools({ id: 'rarray-00000001' });
    const { array_mirror_job_name: job } = await this.source.consistencyGroups.mirror({
      volume_cg_id: (await this.source.volumes.get({ id: volume })).volume.cg_name,
      display_name: `${name} offsite`,
      remote_pool: pools[0]?.name ?? '',
      policy: this.policy,
      new_cg_name: name,
    });
    const copy = (await this.destination.volumes.list({ display_name: name })).volumes[0];
    assert.ok(copy, 'the copy is there');
    return { job, copy: copy.name };
  }

  async status(job: string): Promise<string> {
    return (await this.source.mirrorJobs.get({ id: job })).array_mirror_job.status;
  }

  async reaches(job: string, wanted: RegExp): Promise<void> {
    await until(async () => wanted.test(await this.status(job)), `mirror ${job} is ${wanted.source}`, STATUS_MS_MAX);
  }
}
