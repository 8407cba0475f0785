import type { ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { objectsApi } from '@granary/contract/objects';
import { type FromProgram, type HostedConfiguration, type HostedDrive, type HostedPolicy } from '@granary/kernel';
import { temporaryFolder } from '../testing/folders.ts';
import { until } from '../testing/waiting.ts';
import { CheckedClient } from '../kernel/process/testing/checked-client.ts';
import { testConfiguration, testDrive } from '../kernel/process/testing/configuration.ts';
import { endProgram, forkProgram } from '../kernel/process/testing/fork-program.ts';
import { S3Client, type Keys } from '../protocols/s3/testing/client.ts';

const DATA_PORT = 8080;
const { users, policies } = objectsApi.groups;

export const twoCopies = policy('two-copies', 2, 0, 0);
export const twoAndOne = policy('two-and-one', 0, 2, 1);
export const fourAndTwo = policy('four-and-two', 0, 4, 2);

function policy(name: string, replicas: number, dataFragments: number, parityFragments: number): HostedPolicy {
  return { name, typeId: 1, typeName: name, replicas, dataFragments, parityFragments };
}

const running = new Set<ObjectArray>();

/** A folder of its own; when the test ends, it goes after the arrays that may be in it. */
export function arrayFolder(t: { after(action: () => Promise<void> | void): void }): string {
  t.after(async () => {
    for (const array of running) await array.kill();
  });
  return temporaryFolder(t);
}

/** Folders that stand for the drives of a policy, each on a storage node of its own. */
export function placeDrives(folder: string, name: string, numbers: readonly number[], capacityGb = 10): HostedDrive[] {
  return numbers.map((number) => {
    const file = join(folder, 'drives', String(number));
    mkdirSync(file, { recursive: true });
    return { ...testDrive(number), file, policy: name, capacityGb };
  });
}

/** What a cloud would tell an object storage array of these drives. */
export function objectConfiguration(
  folder: string,
  drives: readonly HostedDrive[],
  kept: readonly HostedPolicy[],
): HostedConfiguration {
  const array = join(folder, 'array');
  mkdirSync(array, { recursive: true });
  const own = { engine: null, cacheGb: 0, dataPort: DATA_PORT, policies: kept, drives };
  return testConfiguration(array, { ...own, logLevel: 'silent' });
}

/** An object storage array as its cloud would run it, in a process of its own. */
export class ObjectArray {
  readonly keys: Keys;
  readonly token: string;
  readonly accountId: string;
  readonly client: CheckedClient<typeof objectsApi>;
  readonly #child: ChildProcess;
  readonly #clients: S3Client[] = [];
  #configuration: HostedConfiguration;
  #lastChange = 0;

  static async start(configuration: HostedConfiguration): Promise<ObjectArray> {
    const child = await forkProgram(new URL('../objects/main.ts', import.meta.url), configuration);
    const anybody = new CheckedClient(objectsApi, configuration.managementUrl);
    const { owner: user, initialPasscode: password } = configuration;
    const signedIn = await anybody.call(users.authenticate, { account: 'objs_admin', user, password });
    return new ObjectArray(child, configuration, signedIn.user, anybody);
  }

  private constructor(
    child: ChildProcess,
    configuration: HostedConfiguration,
    user: SignedIn,
    anybody: CheckedClient<typeof objectsApi>,
  ) {
    const { objs_user: storage } = user.objs_data;
    running.add(this);
    child.once('exit', () => running.delete(this));
    this.#child = child;
    this.#configuration = configuration;
    this.keys = { access: storage.s3_access_key ?? '', secret: storage.s3_secret_key ?? '' };
    this.token = storage.token ?? '';
    this.accountId = storage.account_id;
    this.client = anybody.with({ 'x-access-key': user.access_key ?? '' });
    child.on('message', (message: FromProgram) => {
      if (message.kind === 'return' && 'drive' in message.what) void this.#reclaim(message.id, message.what.drive);
    });
  }

  get configuration(): HostedConfiguration {
    return this.#configuration;
  }

  get dataUrl(): string {
    return `http://${this.#configuration.management.host}:${DATA_PORT}`;
  }

  s3(): S3Client {
    const client = new S3Client(this.dataUrl, this.keys);
    this.#clients.push(client);
    return client;
  }

  /** As a cloud does when drives come or go. */
  async change(changes: Partial<HostedConfiguration>): Promise<void> {
    this.#configuration = { ...this.#configuration, ...changes };
    const id = ++this.#lastChange;
    const answered = new Promise<FromProgram>((resolve) => {
      const listen = (message: FromProgram) => {
        if (!('id' in message) || message.id !== id || message.kind === 'return') return;
        this.#child.off('message', listen);
        resolve(message);
      };
      this.#child.on('message', listen);
    });
    this.#child.send({ kind: 'change', id, configuration: this.#configuration });
    const answer = await answered;
    if (answer.kind !== 'changed') throw new Error(`The change was refused: ${JSON.stringify(answer)}`);
  }

  async policy(name: string) {
    const all = (await this.client.call(policies.list, {})).policies;
    const found = all.find((one) => one.display_name === name);
    if (!found) throw new Error(`There is no policy ${name}.`);
    return found;
  }

  /** Until every piece is where it belongs. */
  async whole(name: string, msMax = 60_000): Promise<void> {
    await until(
      async () => {
        const { health_status: health, rebalance_status: rebalance, state } = await this.policy(name);
        return health === 'normal' && rebalance === 'done' && state === 'initialized';
      },
      `policy ${name} is whole`,
      msMax,
    );
  }

  /** At once: a caller that waits for an acknowledgement may call it concurrently. */
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await endProgram(this.#child, signal);
    for (const client of this.#clients) client.close();
  }

  async #reclaim(id: number, uuid: string): Promise<void> {
    await this.change({ drives: this.#configuration.drives.filter((drive) => drive.uuid !== uuid) });
    this.#child.send({ kind: 'returned', id, problem: null });
  }
}

interface SignedIn {
  readonly access_key: string | null;
  readonly objs_data: {
    readonly objs_user: {
      readonly account_id: string;
      readonly token: string | null;
      readonly s3_access_key: string | null;
      readonly s3_secret_key: string | null;
    };
  };
}
