import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createLog, systemClock as clock } from '@granary/kernel';
import { testConfiguration } from '../../kernel/process/testing/configuration.ts';
import { temporaryFolder } from '../../testing/folders.ts';
import { S3Client } from '../../protocols/s3/testing/client.ts';
import { placeDrive, twoCopies } from '../testing/drives.ts';
import type { Activity } from './activity.ts';
import type { EngineManagement } from './management.ts';
import { partOf } from './parts.ts';
import { ENGINES, startEngine } from './start.ts';
import { testObjectEngine, type EngineUnderTest } from './testing/engine-suite.ts';
import { startMemoryEngine } from './testing/memory/start.ts';

const DATA_PORT = 8080;
const engines = { ...ENGINES, memory: { load: () => Promise.resolve(startMemoryEngine) } };
const key = { access: 'ACCESSKEY00000000000', secret: 'secret' };

async function start(t: TestContext, storageEngine: string, account = 'a'.repeat(32)): Promise<EngineUnderTest> {
  const root = temporaryFolder(t);
  const folder = join(root, 'array');
  mkdirSync(folder);
  const drives = [1, 2, 3, 4].map((number) => placeDrive(root, number));
  const changes = { engine: null, cacheGb: 0, dataPort: DATA_PORT, policies: [twoCopies], drives, storageEngine };
  const configuration = testConfiguration(folder, changes);
  const log = createLog('objects', 'silent');
  const setup = { configuration: () => configuration, clock, log, onListening: () => undefined };
  const running = await startEngine(setup, engines);
  t.after(() => running.stop());
  const reported: Activity[] = [];
  await running.serve(managementOf(account, reported));
  const s3 = new S3Client(`http://${configuration.management.host}:${DATA_PORT}`, key, 'us-east-1');
  t.after(() => s3.close());
  return { engine: running.engine, s3, reported };
}

/** Management that knows one account with one user. */
function managementOf(account: string, reported: Activity[]): EngineManagement {
  const user = { account, accountName: 'acme', user: 'c'.repeat(32), username: 'ada', role: 'account_admin' } as const;
  return {
    settings: () => ({
      region: 'us-east-1',
      sslTermination: false,
      virtualHostedStyle: false,
      tenantNameInUrl: false,
      adminAccess: false,
      apiHostname: null,
      apiIp: null,
      publicApiHostname: null,
      notificationHosts: [],
      rateLimitEnabled: false,
      rateLimit: 0,
      expansionPercent: 100,
    }),
    certificate: () => Promise.reject(new Error('It serves in the clear.')),
    encryption: () => ({ writeKey: 0, keys: [] }),
    directory: {
      byS3Key: (access) => (access === key.access ? { caller: user, secret: key.secret } : { refused: 'unknown' }),
      byToken: () => ({ refused: 'unknown' }),
      signIn: () => Promise.resolve({ refused: 'unknown' }),
      account: (id) => (id === account ? { id, name: 'acme', enabled: true, createdAt: 0, metadata: {} } : undefined),
      accountsByMail: () => [],
      notificationSecret: (seed: string) => `secret of ${seed}`,
      setAccountMetadata: () => Promise.resolve(),
      ownLimit: () => null,
    },
    defaultPolicy: () => null,
    fullPolicies: () => [],
    destinations: () => ({}),
    onActivity: (_, activity) => reported.push(activity),
    onDriveActivity: () => undefined,
    onEvent: () => undefined,
    onStage: () => undefined,
  };
}

testObjectEngine('embedded', (t, account) => start(t, 'embedded', account));
testObjectEngine('memory', (t, account) => start(t, 'memory', account));

test('what an engine lacks is refused in words, from one place', async (t) => {
  const { engine } = await start(t, 'memory');
  assert.throws(() => partOf(engine, 'drives'), {
    message: 'The memory engine of this array has no drives: the engine looks after them by itself.',
  });
});

test('an engine that there is not is named with those there are', async (t) => {
  await assert.rejects(start(t, 'tape'), /names the storage engine tape; there is embedded, memory/);
});
