import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiError, portalClient, type PortalClient } from '@granary/client';
import type { SentTo } from '@granary/contract';
import type { ArrayState, portalApi } from '@granary/contract/portal';
import { createLog, Issuer, TlsSource, type Clock, type Store } from '@granary/kernel';
import { until } from '../../testing/waiting.ts';
import { startPortal, type App, type RunningPortal } from '../index.ts';
import type { Services } from '../services.ts';
import { readSetting, writeSetting } from '../settings/repository.ts';
import { RETENTION } from '../settings/retention.ts';
import type { Tools } from '../tools.ts';
import { findUserByName } from '../users/repository.ts';
import { startFakeCloud, type FakeCloud } from './fake-cloud.ts';
import type { Asked } from '../../kernel/http/testing/encodings.ts';

type Groups = (typeof portalApi)['groups'];
export type Order = SentTo<Groups['arrays']['create']>;

/** A user who can sign in. */
export interface Person {
  readonly id: number;
  readonly username: string;
  readonly password: string;
  readonly token: string;
  readonly client: PortalClient;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly json: () => Record<string, unknown>;
}

interface TestPortalOptions {
  readonly clock?: Clock;
  readonly authority?: Issuer;
  readonly cloud?: FakeCloud;
  /** How long deleted arrays can be undeleted; as it was, or not at all, unless given. */
  readonly retentionHours?: number;
  /** A data directory that outlives the portal, to start another one on it. */
  readonly dataDir?: string;
  /** Of the built console, where a browser looks at the portal. */
  readonly consoleFolder?: string;
}

const ADMIN_PASSWORD = 'admin-password-1';

/** A whole portal on a cloud in memory, with people of every kind. */
export interface TestPortal {
  readonly url: string;
  readonly dataDir: string;
  readonly cloud: FakeCloud;
  readonly store: Store;
  readonly tools: Tools;
  readonly services: Services;
  /** The log of the portal, a line of JSON each. */
  readonly log: string[];
  readonly admin: Person;
  /** An ordinary user, who needs approval. */
  readonly owner: Person;
  /** An ordinary user whose orders act at once. */
  readonly friend: Person;
  /** An ordinary user to whom nothing of the others belongs. */
  readonly otherUser: Person;
  /** A request as it stands, without a socket. */
  readonly send: (person: Person | undefined, asked: Asked) => Promise<Answered>;
  readonly inject: App['inject'];
  readonly person: (username: string, password: string) => Person;
  /** A name that no other test uses. */
  readonly name: (prefix?: string) => string;
  /** Orders an array, has it approved where that is needed, and waits until it is there. */
  readonly array: (person: Person, changes?: Partial<Order>) => Promise<{ readonly id: number; readonly name: string }>;
  readonly objectArray: (
    person: Person,
    changes?: Partial<Order>,
  ) => Promise<{ readonly id: number; readonly name: string }>;
  /** The number of an array, which its record tells only once it is there. */
  readonly idOf: (person: Person, name: string) => number;
  readonly until: (id: number, status: ArrayState) => Promise<void>;
  /** A virtual network of the person's tenant, with 64 addresses to give. */
  readonly network: (person: Person, changes?: Partial<SentTo<Groups['virtualNetworks']['create']>>) => Promise<number>;
  readonly tenantOf: (person: Person) => Promise<number>;
  /** Waits until all work is done and the stock of the cloud is known: from then on, what changes was asked for. */
  readonly rest: () => Promise<void>;
  /** Made once for all tests of the file that need it and leave it as it is. */
  readonly kept: <T>(what: string, make: () => Promise<T>) => Promise<T>;
  readonly onStop: (action: () => Promise<void>) => void;
  /** Every row of every table that is part of the portal's state; not when the watcher last saw the clouds. */
  readonly dump: () => Record<string, unknown[]>;
  /** More than once is the same as once. */
  readonly stop: () => Promise<void>;
}

export const blockOrder: Order = {
  name: 'tank',
  moderate: false,
  provider: 'local',
  engine: 'engine_medium',
  drives: { SSD_10GB: 2 },
};

export const objectOrder: Order = {
  name: 'bucket',
  moderate: false,
  provider: 'local',
  kind: 'object_storage',
  drives: { HDD_1000GB: 2 },
};

export async function startTestPortal(options: TestPortalOptions = {}): Promise<TestPortal> {
  const cloud = options.cloud ?? (await startFakeCloud());
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'granary-portal-'));
  const log: string[] = [];
  const authority = options.authority ?? Issuer.createAuthority('Test authority', Date.now()).issuer;
  const running = await startPortal({
    dataDir,
    host: '127.0.0.1',
    port: 0,
    version: '0.0.0-test',
    log: createLog('portal', 'info', { write: (line) => log.push(line) }),
    adminPassword: ADMIN_PASSWORD,
    localCloud: cloud,
    authority,
    ...(options.clock && { clock: options.clock }),
    ...(options.consoleFolder !== undefined && { consoleFolder: options.consoleFolder }),
  });
  expectsTls(running, authority);
  await addPeople(running);
  await setRetention(running, options.retentionHours);
  const endings: (() => Promise<void>)[] = [];
  const end = async () => {
    await running.stop();
    for (const action of endings) await action();
    if (!options.cloud) await cloud.stop();
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
  };
  let ended: Promise<void> | undefined;
  const person = (username: string, password: string) => personOf(running, username, password);
  return {
    ...testPortal(running, cloud, person),
    dataDir,
    log,
    onStop: (action) => endings.push(action),
    stop: () => (ended ??= end()),
  };
}

/** Tests reach it in the clear; join codes are as if they did not. */
function expectsTls({ tools, url }: RunningPortal, authority: Issuer): void {
  const shown = authority.issue({
    role: 'portal',
    id: authority.id,
    hosts: ['127.0.0.1'],
    use: 'server',
    now: Date.now(),
  });
  tools.place.serve({ host: '127.0.0.1', port: Number(new URL(url).port), tls: new TlsSource(shown) });
}

const people = [
  { username: 'owner', password: 'owner-password-1', auto_approved: false },
  { username: 'friend', password: 'friend-password-1', auto_approved: true },
  { username: 'stranger', password: 'stranger-password-1', auto_approved: false },
] as const;

/** Tests that delete an array mostly mean that it goes. */
async function setRetention({ tools }: RunningPortal, hours: number | undefined): Promise<void> {
  await tools.store.write((tx) => {
    if (hours !== undefined || readSetting(tx, RETENTION) === undefined)
      writeSetting(tx, RETENTION, String(hours ?? 0));
  });
}

async function addPeople({ services, tools }: RunningPortal): Promise<void> {
  const isKnown = (username: string) => tools.store.read((db) => findUserByName(db, username)) !== undefined;
  const missing = people.filter(({ username }) => !isKnown(username));
  await Promise.all(missing.map((one) => services.users.create({ ...one, role: 'user' })));
}

/** The token comes from the records: signing in costs a tenth of a second. */
function personOf({ url, tools: { store, vault } }: RunningPortal, username: string, password: string): Person {
  const row = store.read((db) => findUserByName(db, username));
  assert.ok(row, `there is no user ${username}`);
  const token = vault.unseal(row.tokenSealed);
  return { id: row.id, username, password, token, client: portalClient({ url, token }) };
}

type Basics = Omit<TestPortal, 'dataDir' | 'log' | 'onStop' | 'stop'>;

function testPortal(running: RunningPortal, cloud: FakeCloud, person: TestPortal['person']): Basics {
  const { url, app, services, tools } = running;
  const { store } = tools;
  const admin = person('admin', ADMIN_PASSWORD);
  const keeping = new Map<string, Promise<unknown>>();
  let names = 0;
  const name = (prefix = 'thing') => `${prefix}-${++names}`;

  const idOf = ({ id: ownerId }: Person, arrayName: string): number => {
    const sql = 'SELECT id FROM arrays WHERE owner_id = :ownerId AND name = :arrayName ORDER BY id DESC';
    const row = store.read((db) => db.get<{ id: number }>(sql, { ownerId, arrayName }));
    assert.ok(row, `there is no array ${arrayName}`);
    return row.id;
  };

  const untilState = async (id: number, status: ArrayState): Promise<void> => {
    await until(async () => {
      const { data } = await admin.client.arrays.get({ array_id: id });
      if (data.status === 'failed' && status !== 'failed') throw new Error(`Array failed: ${data.status_message}`);
      return data.status === status;
    }, `array ${id} is ${status}`);
  };

  const place = async (one: Person, order: Order) => {
    await one.client.arrays.create(order);
    const { data } = await one.client.arrayRequests.list({ status: 'pending' });
    const request = data.find((pending) => pending.kind === 'create_array' && pending.name === order.name);
    if (request) await admin.client.arrayRequests.approve({ id: request.id, name: order.name });
    const id = idOf(one, order.name);
    await untilState(id, 'created');
    return { id, name: order.name };
  };

  const tenantOf = async (one: Person): Promise<number> => {
    const { data } = await one.client.tenants.list();
    const tenant = data.find(({ user_id, provider_id }) => user_id === one.id && provider_id === 1);
    assert.ok(tenant, `${one.username} has no tenant`);
    return tenant.id;
  };

  return {
    url,
    cloud,
    store,
    tools,
    services,
    admin,
    owner: person('owner', people[0].password),
    friend: person('friend', people[1].password),
    otherUser: person('stranger', people[2].password),
    inject: app.inject.bind(app),
    person,
    name,
    idOf,
    until: untilState,
    tenantOf,
    array: (one, changes) => place(one, { ...blockOrder, name: name('tank'), ...changes }),
    objectArray: (one, changes) => place(one, { ...objectOrder, name: name('bucket'), ...changes }),
    async send(one, { method, path, headers, body }) {
      const given = typeof body === 'string' || Buffer.isBuffer(body) || body === undefined;
      const answer = await app.inject({
        method,
        url: path,
        headers: {
          ...(one && { 'x-token': one.token }),
          ...(!given && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { payload: given ? body : JSON.stringify(body) }),
      });
      return {
        status: answer.statusCode,
        headers: answer.headers,
        text: answer.payload,
        json: () => JSON.parse(answer.payload) as Record<string, unknown>,
      };
    },
    async network(one, changes = {}) {
      const number = ++names;
      const prefix = `10.${Math.floor(number / 256)}.${number % 256}`;
      const { data } = await one.client.virtualNetworks.create({
        name: `network-${number}`,
        provider_id: 1,
        tenant_id: await tenantOf(one),
        cidr: `${prefix}.0/24`,
        gateway: `${prefix}.1`,
        allocatable_ip_ranges: `${prefix}.10-${prefix}.73`,
        ...changes,
      });
      return data.id;
    },
    async rest() {
      const sql = `SELECT count(*) AS n FROM jobs WHERE state IN ('queued', 'running')`;
      await until(() => store.read((db) => db.get<{ n: number }>(sql))?.n === 0, 'no job is left');
      await services.clouds.freshInventory(1);
    },
    kept<T>(what: string, make: () => Promise<T>) {
      const known = keeping.get(what) ?? make();
      keeping.set(what, known);
      return known as Promise<T>;
    },
    dump: () => dumpOf(store),
  };
}

/** What tells of a request without being what it changed. */
const NOT_STATE = new Set(['events', 'idempotency_keys']);

function dumpOf(store: Store): Record<string, unknown[]> {
  return store.read((db) => {
    const tables = db.all<{ name: string }>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`,
    );
    const kept = tables.filter(({ name }) => !NOT_STATE.has(name));
    const stateOf = (row: Record<string, unknown>) => {
      const { seen_at: _, ...state } = row;
      return state;
    };
    return Object.fromEntries(
      kept.map(({ name }) => [name, db.all<Record<string, unknown>>(`SELECT * FROM ${name}`).map(stateOf)]),
    );
  });
}

/** What a call is refused with; the test fails if it is not. */
export async function refusal(call: Promise<unknown>): Promise<ApiError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new assert.AssertionError({ message: 'The call was allowed.' });
}

/** Refused with that status and a message that says so. */
export async function refused(call: Promise<unknown>, status: number, message: RegExp): Promise<ApiError> {
  const error = await refusal(call);
  assert.equal(error.status, status, error.message);
  assert.match(error.message, message);
  return error;
}
