import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cloudApi, type HostedArray } from '@granary/contract/cloud';
import { createLog } from '@granary/kernel';
import { temporaryFolder } from '../../testing/folders.ts';
import { until } from '../../testing/waiting.ts';
import { testNetwork } from '../../kernel/process/testing/addresses.ts';
import { CheckedClient } from '../../kernel/process/testing/checked-client.ts';
import type { CloudOptions, RunningCloud } from '../options.ts';
import { startCloud } from '../start.ts';
import { testConfig } from './specs.ts';

const fake = fileURLToPath(new URL('./fake-array.ts', import.meta.url));
const fakePrograms = { storage_array: fake, object_storage: fake };

export const { inventory, hostedArrays } = cloudApi.groups;

/** A data directory with a small cloud's config in it, on addresses of its own. */
export function testData(t: TestContext, perNode = 4): string {
  const dataDir = temporaryFolder(t);
  writeConfig(dataDir, testConfig(perNode, testNetwork()));
  return dataDir;
}

export function writeConfig(dataDir: string, config: object): void {
  writeFileSync(join(dataDir, 'granary.config.json'), JSON.stringify(config));
}

export async function startTestCloud(
  t: TestContext,
  dataDir: string,
  options: Partial<CloudOptions> = {},
): Promise<RunningCloud & CloudClient> {
  const cloud = await startCloud({
    dataDir,
    port: 0,
    adminUser: 'operator',
    programs: fakePrograms,
    log: createLog('test', 'silent'),
    supervision: { backoffMs: 50, healthEveryMs: 1_000, stopMsMax: 3_000 },
    ...options,
  });
  // A test that stopped its cloud itself has nothing left to stop.
  let stopped = false;
  const stop = async () => {
    if (!stopped) await cloud.stop();
    stopped = true;
  };
  t.after(stop);
  return { ...cloud, stop, ...clientOf(cloud) };
}

export interface CloudClient {
  readonly client: CheckedClient<typeof cloudApi>;
  /** Waits until an array is in a state, or gone. */
  readonly reaches: (uuid: string, state: HostedArray['state']) => Promise<HostedArray>;
  readonly isGone: (uuid: string) => Promise<void>;
}

const PROCESS_MS_MAX = 120_000;

export function clientOf({
  url,
  adminUser,
  adminKey,
}: Pick<RunningCloud, 'url' | 'adminUser' | 'adminKey'>): CloudClient {
  const authorization = `Basic ${Buffer.from(`${adminUser}:${adminKey}`).toString('base64')}`;
  const client = new CheckedClient(cloudApi, url, { authorization });
  return {
    client,
    reaches: (uuid, state) =>
      until(
        async () => {
          const { data } = await client.call(hostedArrays.get, { uuid });
          return data.state === state ? data : undefined;
        },
        `${uuid} is ${state}`,
        PROCESS_MS_MAX,
      ),
    isGone: async (uuid) => {
      await until(
        async () => {
          const { data } = await client.call(hostedArrays.delete, { uuid });
          return data === undefined ? true : undefined;
        },
        `${uuid} is gone`,
        PROCESS_MS_MAX,
      );
    },
  };
}
