import type { ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HostedConfiguration } from '@granary/kernel';
import { testConfiguration, testDrive } from '../../kernel/process/testing/configuration.ts';
import { endProgram, forkProgram } from '../../kernel/process/testing/fork-program.ts';
import type { HttpAddress } from './connection.ts';
import type { S3Key } from './target.ts';

const DRIVES = 4;
const NODES = 2;
const DATA_PORT = 8080;

/** What a cloud would tell an array of four drives on two storage nodes, whose policy is to keep two copies. */
export function objectsConfiguration(folder: string): HostedConfiguration {
  const drives = Array.from({ length: DRIVES }, (_, index) => {
    const file = join(folder, 'drives', String(index + 1));
    mkdirSync(file, { recursive: true });
    const site = index % NODES;
    return { ...testDrive(index + 1), capacityGb: 100, file, node: `node-${site + 1}`, zone: `zone_${site}` };
  });
  const policy = {
    name: 'two-copies',
    typeId: 1,
    typeName: '2-way',
    replicas: 2,
    dataFragments: 0,
    parityFragments: 0,
  };
  const own = { engine: null, cacheGb: 0, dataPort: DATA_PORT, drives, policies: [policy] };
  return testConfiguration(join(folder, 'array'), own);
}

/** An object storage array as its cloud would run it, in a process of its own. */
export class ObjectsProcess {
  readonly address: HttpAddress;
  readonly key: S3Key;
  readonly account: string;
  readonly #child: ChildProcess;

  static async start(configuration: HostedConfiguration): Promise<ObjectsProcess> {
    mkdirSync(configuration.folder, { recursive: true });
    const child = await forkProgram(new URL('../../objects/main.ts', import.meta.url), configuration);
    const { managementUrl, management, owner: user, initialPasscode: password } = configuration;
    const reply = await fetch(`${managementUrl}/api/users/authenticate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ account: 'objs_admin', user, password }),
    });
    const { response } = (await reply.json()) as SignedIn;
    return new ObjectsProcess(child, { host: management.host, port: DATA_PORT }, response.user.objs_data.objs_user);
  }

  private constructor(child: ChildProcess, address: HttpAddress, user: ShownUser) {
    this.#child = child;
    this.address = address;
    this.key = { access: user.s3_access_key, secret: user.s3_secret_key };
    this.account = user.account_id;
  }

  residentMb(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
  }

  async stop(): Promise<void> {
    await endProgram(this.#child, 'SIGTERM');
  }
}

interface ShownUser {
  readonly account_id: string;
  readonly s3_access_key: string;
  readonly s3_secret_key: string;
}

interface SignedIn {
  readonly response: { readonly user: { readonly objs_data: { readonly objs_user: ShownUser } } };
}
