import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { arrayApi } from '@granary/contract/array';
import type { HostedConfiguration, HostedDrive, HostedProgram, ProgramHost } from '@granary/kernel';
import { CheckedClient } from '../../kernel/process/testing/checked-client.ts';
import { testConfiguration } from '../../kernel/process/testing/configuration.ts';
import { startInline } from '../engine/controllers/testing/inline-thread.ts';
import { startEmbeddedEngine } from '../engine/embedded/start.ts';
import { ENGINES } from '../engine/start.ts';
import { startMemoryEngine } from '../engine/testing/memory/start.ts';
import { startArray } from '../start.ts';
import { placeDrives } from './drives.ts';

const { users, drives: driveGroup, raidGroups, pools, volumes } = arrayApi.groups;

export interface TestArrayOptions {
  /** 4 by default. */
  readonly drives?: number;
  /** Size of each; 1 by default. Files are sparse. */
  readonly driveGb?: number;
  /** The cloud that runs it, until it is restarted. */
  readonly host?: ProgramHost;
  /** Its controllers have threads of their own, as outside of tests; that takes half a second more. */
  readonly threads?: boolean;
}

/** The embedded engine with its controllers in the thread of the test, and the one in memory. */
const inlineEngines: typeof ENGINES = {
  ...ENGINES,
  embedded: {
    ...ENGINES['embedded'],
    load: () => Promise.resolve((setup) => startEmbeddedEngine(setup, { startThread: startInline })),
  },
  memory: { load: () => Promise.resolve(startMemoryEngine) },
};

type Changes = Partial<Omit<HostedConfiguration, 'drives'>>;
export type ArrayTestClient = CheckedClient<typeof arrayApi>;

/** A test, or a whole file of tests: what is started for it ends after it. */
export interface Lasting {
  readonly after: (end: () => Promise<void> | void) => unknown;
}

/** A real array on drives of its own, its administrator signed in. It is gone after the test. */
export async function testArray(t: Lasting, options: TestArrayOptions & Changes = {}): Promise<TestArray> {
  const { drives: count = 4, driveGb = 1, host, threads = false, ...changes } = options;
  const engines = threads ? ENGINES : inlineEngines;
  const root = mkdtempSync(join(tmpdir(), 'granary-array-'));
  const place = (numbers: readonly number[]) => placeDrives(join(root, 'drives'), numbers, driveGb);
  const drives = place(Array.from({ length: count }, (_, index) => index + 1));
  const folder = join(root, 'array');
  mkdirSync(folder);
  const configuration = testConfiguration(folder, { drives, ...changes });
  const array = await startArray(configuration, host, engines).catch((error: unknown) => {
    rmSync(root, { recursive: true });
    throw error;
  });
  const anybody = new CheckedClient(arrayApi, configuration.managementUrl);
  const { owner, initialPasscode } = configuration;
  const { user } = await anybody.call(users.login, { user: owner, password: initialPasscode });
  const test = new TestArray(configuration, array, anybody, user, place, engines);
  t.after(async () => {
    await test.stop();
    rmSync(root, { recursive: true });
  });
  return test;
}

export class TestArray {
  readonly configuration: HostedConfiguration;
  readonly anybody: ArrayTestClient;
  readonly user: { readonly access_key: string; readonly username: string; readonly role: string };
  /** As the administrator. */
  readonly client: ArrayTestClient;
  /** Drives with these numbers, as a cloud would place them. */
  readonly place: (numbers: readonly number[]) => HostedDrive[];
  readonly #engines: typeof ENGINES;
  #array: HostedProgram;

  constructor(
    configuration: HostedConfiguration,
    array: HostedProgram,
    anybody: ArrayTestClient,
    user: TestArray['user'],
    place: TestArray['place'],
    engines: typeof ENGINES,
  ) {
    this.configuration = configuration;
    this.#array = array;
    this.anybody = anybody;
    this.user = user;
    this.client = anybody.with({ 'x-access-key': user.access_key });
    this.place = place;
    this.#engines = engines;
  }

  /** The same array, seen by another of its users. */
  as(user: TestArray['user']): TestArray {
    return new TestArray(this.configuration, this.#array, this.anybody, user, this.place, this.#engines);
  }

  async restart(changes: Partial<HostedConfiguration> = {}): Promise<void> {
    await this.#array.stop();
    this.#array = await startArray({ ...this.configuration, ...changes }, undefined, this.#engines);
  }

  change(changes: Partial<HostedConfiguration>): Promise<void> {
    return this.#array.change({ ...this.configuration, ...changes });
  }

  async stop(): Promise<void> {
    await this.#array.stop();
  }

  /** A mirror of the first two free drives, or another group; its name. */
  async group(wanted: { drives?: number; protection?: 'RAID1' | 'RAID6'; name?: string; spare?: boolean } = {}) {
    const { drives: count = wanted.protection === 'RAID6' ? 4 : 2, protection = 'RAID1', spare = false } = wanted;
    const { disks } = await this.client.call(driveGroup.listFree, {});
    const disk = disks.slice(0, count + (spare ? 1 : 0)).map(({ name }) => name);
    const display_name = wanted.name ?? `group ${++made}`;
    const { raidgroup_name } = await this.client.call(raidGroups.create, {
      display_name,
      protection,
      disk: disk.join(','),
      hot_spare: spare,
    } as never);
    return raidgroup_name;
  }

  /** A pool of these groups, or of a new mirror; its name. */
  async pool(wanted: { groups?: readonly string[]; name?: string } & Record<string, unknown> = {}) {
    const { groups, name = `pool ${++made}`, ...more } = wanted;
    const raid_groups = (groups ?? [await this.group()]).join(',');
    const { pool_name } = await this.client.call(pools.create, { display_name: name, raid_groups, ...more } as never);
    return pool_name;
  }

  /** A volume of 100 MB in the pool by default; its name. */
  async volume(pool: string, wanted: { name?: string; capacity?: string } & Record<string, unknown> = {}) {
    const { name = `volume ${++made}`, capacity = '100M', ...more } = wanted;
    const input = { name, pool, capacity, ...more } as never;
    const { vol_name } = await this.client.call(volumes.create, input);
    return vol_name;
  }
}

/** Names must differ within an array. */
let made = 0;
