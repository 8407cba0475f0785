import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { objectsApi, type ObjectsRole } from '@granary/contract/objects';
import type { EncryptionChange, HostedConfiguration, HostedDrive, HostedProgram, ProgramHost } from '@granary/kernel';
import { CheckedClient } from '../../kernel/process/testing/checked-client.ts';
import { testConfiguration } from '../../kernel/process/testing/configuration.ts';
import { S3Client } from '../../protocols/s3/testing/client.ts';
import { startEmbeddedEngine } from '../engine/embedded/start.ts';
import { ENGINES } from '../engine/start.ts';
import { startMemoryEngine } from '../engine/testing/memory/start.ts';
import { startObjects } from '../start.ts';
import { driveFolder, placeDrive, twoCopies } from './drives.ts';

const { users, accounts } = objectsApi.groups;

export type ObjectsTestClient = CheckedClient<typeof objectsApi>;

/** A test, or a whole file of tests: what is started for it ends after it. */
export interface Lasting {
  readonly after: (end: () => Promise<void> | void) => unknown;
}

type Changes = Partial<Omit<HostedConfiguration, 'drives'>>;

export interface TestObjectsOptions extends Changes {
  /** How many, on two nodes in two zones. Default: 4. */
  readonly drives?: number;
  /** Whether the main thread puts small bodies on the drives. */
  readonly gathersSmallBodies?: boolean;
}

/** A user who can sign in, with all credentials. */
export interface Person {
  readonly username: string;
  readonly password: string;
  readonly role: ObjectsRole;
  /** 32 hex digits. */
  readonly id: string;
  readonly number: number;
  readonly accountId: string;
  readonly accountName: string;
  readonly key: string;
  readonly token: string;
  readonly s3: { readonly access: string; readonly secret: string };
  readonly client: ObjectsTestClient;
}

export const PASSWORD = 'Pick-Your-0wn';
const DATA_PORT = 8080;

/**
 * A real object storage array on folders of its own, its owner signed in unless it serves over TLS: then the test knows
 * whom to trust. It is gone after the test.
 */
export async function testObjects(t: Lasting, options: TestObjectsOptions = {}): Promise<TestObjects> {
  const { drives: count = 4, gathersSmallBodies, ...changes } = options;
  const root = mkdtempSync(join(tmpdir(), 'granary-objects-'));
  const drives = Array.from({ length: count }, (_, index) => placeDrive(root, index + 1));
  const folder = join(root, 'array');
  mkdirSync(folder);
  const own = { engine: null, cacheGb: 0, dataPort: DATA_PORT, policies: [twoCopies], drives };
  const test = new TestObjects(root, testConfiguration(folder, { ...own, ...changes }), gathersSmallBodies);
  t.after(async () => {
    await test.stop();
    rmSync(root, { recursive: true, force: true });
  });
  await test.start();
  if (!changes.tls) await test.signInOwner();
  return test;
}

export class TestObjects {
  /** Uuids of drives that the array gave back, in order. */
  readonly returned: string[] = [];
  /** What it last reported of its encryption. */
  encryptionChanges: readonly EncryptionChange[] = [];
  readonly anonymous: ObjectsTestClient;
  readonly #root: string;
  readonly #gathersSmallBodies: boolean;
  #configuration: HostedConfiguration;
  #program: HostedProgram | undefined;
  #owner: Person | undefined;

  constructor(root: string, configuration: HostedConfiguration, gathersSmallBodies = true) {
    this.#root = root;
    this.#gathersSmallBodies = gathersSmallBodies;
    this.#configuration = configuration;
    this.anonymous = new CheckedClient(objectsApi, configuration.managementUrl);
  }

  get configuration(): HostedConfiguration {
    return this.#configuration;
  }

  get url(): string {
    return this.#configuration.managementUrl;
  }

  get dataUrl(): string {
    return `http://${this.#configuration.management.host}:${DATA_PORT}`;
  }

  /** Who owns the array. */
  get owner(): Person {
    if (!this.#owner) throw new Error('The owner has not signed in.');
    return this.#owner;
  }

  /** As the owner. */
  get client(): ObjectsTestClient {
    return this.owner.client;
  }

  async start(): Promise<void> {
    const host: ProgramHost = {
      // As a cloud does: a drive that was given back is no longer configured.
      returnDrive: async (uuid) => {
        this.returned.push(uuid);
        await this.change({ drives: this.#configuration.drives.filter((drive) => drive.uuid !== uuid) });
      },
      progress: () => undefined,
      returnProxies: async (kept) => this.change({ proxyZones: this.#configuration.proxyZones.slice(0, kept) }),
      reportListening: () => undefined,
      reportEncryption: async (changes) => {
        this.encryptionChanges = changes;
      },
    };
    this.#program = await startObjects(this.#configuration, host, enginesWith(this.#gathersSmallBodies));
  }

  async stop(): Promise<void> {
    await this.#program?.stop();
    this.#program = undefined;
  }

  async restart(changes: Partial<HostedConfiguration> = {}): Promise<void> {
    await this.stop();
    this.#configuration = { ...this.#configuration, ...changes };
    await this.start();
  }

  async change(changes: Partial<HostedConfiguration>): Promise<void> {
    this.#configuration = { ...this.#configuration, ...changes };
    await this.#program?.change(this.#configuration);
  }

  /** Where the drive of this number is, or was. */
  folderOf(number: number): string {
    return driveFolder(this.#root, number);
  }

  async addDrive(number: number, changes: Partial<HostedDrive> = {}): Promise<void> {
    const drive = { ...placeDrive(this.#root, number), ...changes };
    await this.change({ drives: [...this.#configuration.drives, drive] });
  }

  async signInOwner(): Promise<void> {
    const { owner: user, initialPasscode: password } = this.#configuration;
    const { user: found } = await this.anonymous.call(users.authenticate, { account: 'objs_admin', user, password });
    this.#owner = this.#person(found, password);
  }

  async account(name: string): Promise<string> {
    return (await this.client.call(accounts.create, { name })).count;
  }

  /** A user with a password. */
  async user(accountId: string, username: string, role: ObjectsRole = 'member'): Promise<Person> {
    const email = `${username}@example.org`;
    const { code } = await this.client.call(users.create, { username, email, account_id: accountId, role });
    const place = { username, account: accountId };
    await this.anonymous.call(users.usePasswordCode, { ...place, code, new_password: PASSWORD });
    return this.person(accountId, username);
  }

  /** As they are now: keys and tokens come and go. */
  async person(accountId: string, username: string): Promise<Person> {
    const { users: all } = await this.client.call(users.list, {});
    const found = all.find((one) => one.username === username && one.objs_data.objs_user.account_id === accountId);
    if (!found) throw new Error(`There is no user ${username}.`);
    return this.#person(found, PASSWORD);
  }

  s3({ s3 }: Pick<Person, 's3'>, region = 'us-east-1'): S3Client {
    return new S3Client(this.dataUrl, s3, region);
  }

  /** `path` begins after the account. */
  swift(
    { accountId, token }: Person,
    method: string,
    path: string,
    more: { readonly headers?: Record<string, string>; readonly body?: string } = {},
  ): Promise<Response> {
    const headers = { ...more.headers, 'x-auth-token': token, connection: 'close' };
    return fetch(`${this.dataUrl}/v1/AUTH_${accountId}${path}`, { ...more, method, headers });
  }

  #person(found: ShownUser, password: string): Person {
    const { objs_user: storage } = found.objs_data;
    return {
      username: found.username,
      password,
      role: found.roles[0]?.name ?? 'member',
      id: storage.id,
      number: found.id,
      accountId: storage.account_id,
      accountName: storage.account_name,
      key: found.access_key ?? '',
      token: storage.token ?? '',
      s3: { access: storage.s3_access_key ?? '', secret: storage.s3_secret_key ?? '' },
      client: this.anonymous.with({ 'x-access-key': found.access_key ?? '' }),
    };
  }
}

interface ShownUser {
  readonly id: number;
  readonly username: string;
  readonly access_key: string | null;
  readonly roles: readonly { readonly name: ObjectsRole }[];
  readonly objs_data: {
    readonly objs_user: {
      readonly id: string;
      readonly account_id: string;
      readonly account_name: string;
      readonly token: string | null;
      readonly s3_access_key: string | null;
      readonly s3_secret_key: string | null;
    };
  };
}

/** The engines there are, and one in memory. */
function enginesWith(gathersSmallBodies: boolean): typeof ENGINES {
  return {
    ...ENGINES,
    embedded: { load: () => Promise.resolve((setup) => startEmbeddedEngine(setup, { gathersSmallBodies })) },
    memory: { load: () => Promise.resolve(startMemoryEngine) },
  };
}
