import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { arrayApi } from '@granary/contract/array';
import { askedOf, usualEncoding, type Values } from '../../kernel/http/testing/encodings.ts';
import { wireTo, type Received, type Send, type Sent } from '../../kernel/process/testing/wire.ts';
import { operations, type Operation } from '@granary/contract';
import { servedOperations } from '../served.ts';
import { testArray, type ArrayTestClient, type Lasting, type TestArray } from './test-array.ts';

const { users } = arrayApi.groups;
/** Enough for every preparation of a file of tests: groups that are built are not always deleted. */
const DRIVES = 60;
/** Where this machine does not listen. */
const FAR_AWAY = { id: 1, address: '192.0.2.77', netmask: '255.255.255.0', gateway: null, vlanId: 7 };
const PASSWORD = 'correct horse battery';

export interface Caller {
  readonly username: string;
  readonly password: string;
  readonly key: string;
  readonly client: ArrayTestClient;
}

interface How extends Pick<Sent, 'from'> {
  readonly accept?: string;
}

/** Two walks may share an array. */
let names = 0;

const served = new Set(servedOperations());

/** Every operation the array serves. */
export const arrayOperations: readonly Operation[] = operations(arrayApi).filter(({ id }) => served.has(id));

/** An array that the tests of a file share, with everything an operation may need within reach. */
export async function startWalk(file: Lasting): Promise<ArrayWalk> {
  // Whatever a single test starts for others lasts as long as the file.
  const ends: (() => Promise<void> | void)[] = [];
  const t: Lasting = { after: (end) => ends.unshift(end) };
  file.after(async () => {
    for (const end of ends) await end();
  });
  const host = {
    returnDrive: () => Promise.resolve(),
    reportEncryption: () => Promise.resolve(),
    returnProxies: () => Promise.resolve(),
    reportListening: () => undefined,
    progress: () => undefined,
  };
  const array = await testArray(t, { drives: DRIVES, host, interfaces: [FAR_AWAY] });
  const { client, anybody, user, configuration } = array;
  const made = await client.call(users.create, { username: 'jo', password: PASSWORD });
  const key = made.user.access_key;
  const callers = {
    admin: { username: user.username, password: configuration.initialPasscode, key: user.access_key, client },
    user: { username: 'jo', password: PASSWORD, key, client: anybody.with({ 'x-access-key': key }) },
  };
  return new ArrayWalk(t, array, callers);
}

export class ArrayWalk {
  readonly t: Lasting;
  readonly array: TestArray;
  readonly admin: Caller;
  /** May do what is not for administrators only. */
  readonly user: Caller;
  /** Snapshot sets that hold writes back, or did. */
  readonly suspended: string[] = [];
  readonly #send: Send;
  readonly #kept = new Map<string, Promise<unknown>>();

  constructor(t: Lasting, array: TestArray, { admin, user }: { admin: Caller; user: Caller }) {
    this.t = t;
    this.array = array;
    this.admin = admin;
    this.user = user;
    this.#send = wireTo(array.configuration.managementUrl, (close) => t.after(close));
  }

  get client(): ArrayTestClient {
    return this.admin.client;
  }

  get api(): typeof arrayApi.groups {
    return arrayApi.groups;
  }

  /** One no other thing has. */
  name(what: string): string {
    names += 1;
    return `${what}-${names}`;
  }

  /** One no other thing has, either. */
  number(): number {
    names += 1;
    return names;
  }

  /** Made at the first call, the same ever after. */
  kept<T>(what: string, make: () => Promise<T>): Promise<T> {
    const known = this.#kept.get(what) as Promise<T> | undefined;
    if (known) return known;
    const fresh = make();
    this.#kept.set(what, fresh);
    return fresh;
  }

  /** With the key, if there is one. */
  send(sent: Sent, key?: string): Promise<Received> {
    const headers = { ...sent.headers, ...(key !== undefined && { 'x-access-key': key }) };
    return this.#send({ ...sent, headers });
  }

  ask(operation: Operation, values: Values, key?: string, how: How = {}): Promise<Received> {
    const { accept = 'application/json', ...more } = how;
    const asked = askedOf(operation, values, usualEncoding(operation));
    return this.send({ ...asked, ...more, headers: { ...asked.headers, accept } }, key);
  }

  /** A second array to mirror to. */
  remote(): Promise<TestArray> {
    return this.kept('remote', () => this.#another(2));
  }

  /** A third one, which is never mirrored to. */
  acquaintance(): Promise<TestArray> {
    return this.kept('acquaintance', () => this.#another(3));
  }

  /** Where a bucket `archive` answers to any key. */
  bucket(): Promise<string> {
    return this.kept('bucket', async () => {
      const server = createServer((_, reply) => reply.end()).listen(0, '127.0.0.1');
      await once(server, 'listening');
      this.t.after(() => {
        server.close();
      });
      return `127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
  }

  async freeDrive(): Promise<string> {
    return (await this.freeDrives(1))[0]!;
  }

  async freeDrives(count: number): Promise<string[]> {
    const { disks } = await this.client.call(arrayApi.groups.drives.listFree, {});
    const free = disks.filter(({ status }) => status === 'Available').slice(0, count);
    assert.equal(free.length, count, 'the drives are used up: DRIVES in array/testing/walk.ts is too small');
    return free.map(({ name }) => name);
  }

  async #another(number: number): Promise<TestArray> {
    const array = await testArray(this.t, {
      drives: 2,
      uuid: `6f1f5f6e-0000-4000-8000-00000000000${number}`,
      internalName: `vsa-0000000${number}`,
      displayName: `Other ${number}`,
    });
    await array.pool();
    return array;
  }
}
