import type { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { anyone, endpoint, fileReply, success, response, type Access, type Api, type Group } from '@granary/contract';
import { bool, int, listOf, mapOf, maybe, nullable, num, record, str, utc } from '@granary/contract';
import {
  boolean,
  capacity,
  choice,
  decimal,
  file,
  integer,
  json,
  list,
  optional,
  page,
  recordNumber,
  secret,
  text,
  withDefault,
} from '../../../contract/params.ts';
import type { FastifyInstance } from 'fastify';
import { Vault } from '../../auth/vault.ts';
import { ManualClock } from '../../clock.ts';
import { fail } from '../../errors.ts';
import { createLog } from '../../log.ts';
import type { Store } from '../../store/index.ts';
import { temporaryStore } from '../../testing/temporary-store.ts';
import { createApiServer, Submitted, type Actor, type AnsweredCall, type CredentialSource } from '../index.ts';

const member: Access = { roles: ['member', 'admin'] };
const admin: Access = { roles: ['admin'] };

export const Thing = record('Thing', {
  id: int(),
  name: str(),
  big: bool(),
  ratio: num(),
  made_at: utc(),
  used_at: nullable(utc()),
  tags: listOf(str()),
  sizes: mapOf(int()),
  note: maybe(str()),
});

const Quota = record('Quota', { source_id: int(), limit: num(), hard: maybe(bool()), label: maybe(nullable(str())) });

/** A parameter of every kind, none of them needed. */
export const everyKind = {
  name: optional(text('A text', { max: 10, aliases: ['title'] })),
  comment: optional(text('A text that may be empty', { min: 0, max: 2_000_000 })),
  count: optional(integer('A whole number', { max: 100 })),
  share: optional(decimal('A number', { min: -10, max: 10 })),
  force: optional(boolean('A boolean')),
  mode: optional(choice(['fast', 'safe'], 'A choice')),
  names: optional(list(text('A name'), 'A list of texts')),
  numbers: optional(list(integer('A number'), 'A list of numbers', { max: 5 })),
  size: optional(capacity('A capacity')),
  quotas: optional(json<unknown[]>(listOf(Quota), 'A structure')),
  drives: optional(json<Record<string, number>>(mapOf(int()), 'A map')),
  upload: optional(file('A file')),
  level: withDefault(integer('With a default'), 3),
};

/** One API in both dialects: what they share is tested on either, what differs on both. */
export function testGroups<E extends typeof success | typeof response>(reply: E) {
  const echoed = reply({ input: str() });
  const things = {
    list: endpoint('GET', '/things', {
      summary: 'List',
      access: member,
      params: page,
      reply: reply({ things: listOf(Thing), count: int() }),
    }),
    get: endpoint('GET', '/things/{thing-id}', {
      summary: 'Show',
      access: member,
      params: { 'thing-id': recordNumber('The thing') },
      reply: reply({ thing: Thing }),
    }),
    create: endpoint('POST', '/things', {
      summary: 'Create',
      access: member,
      params: { name: text('Its name', { max: 128 }), password: optional(secret('Its secret', { min: 8 })) },
      reply: reply({ id: int(), password: maybe(str()) }),
    }),
    delete: endpoint('DELETE', '/things/{id}', {
      summary: 'Delete',
      access: admin,
      params: { id: recordNumber('The thing') },
      reply: reply({}),
    }),
    grow: endpoint('POST', '/things/{id}/grow', {
      summary: 'Start to grow',
      access: member,
      params: { id: recordNumber('The thing') },
      reply: reply({}),
    }),
    breakDown: endpoint('POST', '/things/{id}/break', {
      summary: 'Run into a bug',
      access: member,
      params: { id: recordNumber('The thing') },
      reply: reply({}),
    }),
    paint: endpoint('POST', '/things/{id}/paint', {
      summary: 'Declared, not served',
      access: member,
      params: { id: recordNumber('The thing'), colour: text('Its colour') },
      reply: reply({}),
    }),
    export: endpoint('GET', '/things/{id}/export', {
      summary: 'A file',
      access: member,
      params: { id: recordNumber('The thing') },
      reply: fileReply('text/csv'),
    }),
  } satisfies Group;
  const echo = { access: member, params: everyKind, reply: echoed, summary: 'What was understood' };
  const echoes = {
    get: endpoint('GET', '/echo', echo),
    post: endpoint('POST', '/echo', echo),
    put: endpoint('PUT', '/echo', echo),
    delete: endpoint('DELETE', '/echo', echo),
    named: endpoint('POST', '/echo/{name}', { ...echo, params: { ...everyKind, name: text('From the path') } }),
    open: endpoint('POST', '/open_echo', { ...echo, access: anyone }),
    large: endpoint('POST', '/large_echo', { ...echo, body: { xmlBytesMax: 256 * 1024, xmlElementsMax: 10_000 } }),
  } satisfies Group;
  return { things, echoes };
}

const about = { title: 'Test', description: 'For tests.' };
const portalApi = { name: 'test', ...about, dialect: 'portal', groups: testGroups(success) } as const satisfies Api;
const arrayApi = {
  name: 'test',
  ...about,
  dialect: 'array',
  asyncStatus: 1073751835,
  groups: testGroups(response),
} as const satisfies Api;

const actors = new Map<unknown, Actor>([
  ['member', { id: 'user:1', role: 'member' }],
  ['other', { id: 'user:2', role: 'member' }],
  ['admin', { id: 'user:3', role: 'admin' }],
  ['guest', { id: 'user:4', role: 'guest' }],
]);

export const thing = {
  id: 7,
  name: 'Ada & <Co>',
  big: true,
  ratio: 0.5,
  made_at: '2026-01-01 00:00:00 UTC',
  used_at: null,
  tags: ['a', 'b'],
  sizes: { ssd: 2 },
};

export interface Bench {
  readonly app: FastifyInstance;
  readonly store: Store;
  readonly clock: ManualClock;
  readonly logged: string[];
  /** The things that were created. */
  readonly created: string[];
  /** The recorded calls. */
  readonly answered: AnsweredCall[];
  /** Awaited by creation. */
  gate: Promise<unknown>;
  /** Tokens that were revoked. */
  readonly revoked: Set<unknown>;
  /** Called before each change, after the role check. */
  authorise: () => void;
  /** Streamed instead of the file. */
  streamed: Readable | undefined;
}

export async function serve(t: TestContext, dialect: 'portal' | 'array', store = temporaryStore(t)): Promise<Bench> {
  const clock = new ManualClock('2026-01-01T00:00:00Z');
  const logged: string[] = [];
  const created: string[] = [];
  const answered: AnsweredCall[] = [];
  const revoked = new Set<unknown>();
  const bench = {
    store,
    clock,
    logged,
    created,
    answered,
    gate: Promise.resolve<unknown>(undefined),
    revoked,
    authorise: (): void => undefined,
    streamed: undefined as Readable | undefined,
  };
  const handlers = {
    things: {
      list: (input: { start: number; limit: number }, context: { total: number | undefined }) => {
        context.total = 12;
        return { things: [thing].slice(input.start), count: 12 };
      },
      get: async (input: { 'thing-id': number }) => {
        if (input['thing-id'] !== thing.id) throw fail('not_found', { kind: 'thing', id: input['thing-id'] });
        return { thing };
      },
      create: async (input: { name: string; password?: string | undefined }) => {
        created.push(input.name);
        await bench.gate;
        if (input.name === 'taken') throw fail('name_taken', { name: input.name });
        if (input.name === 'unlucky') throw new Error('no luck');
        return { id: created.length, ...(input.password !== undefined && { password: input.password }) };
      },
      delete: () => ({}),
      grow: () => new Submitted('It grows.'),
      breakDown: () => {
        throw Object.assign(new Error('the inside story'), { statusCode: 404, password: 'hunter2' });
      },
      export: () => {
        const filename = 'a "b"/c.csv';
        return bench.streamed
          ? { filename, stream: bench.streamed }
          : { filename, bytes: new TextEncoder().encode('x,y\n') };
      },
    },
    echoes: { get: echo, post: echo, put: echo, delete: echo, named: echo, open: echo, large: echo },
  };
  const app = await createApiServer({
    api: dialect === 'portal' ? portalApi : (arrayApi as unknown as typeof portalApi),
    handlers,
    authenticate: (source) => (revoked.has(source.headers['x-token']) ? undefined : tokenHolder(source)),
    authorise: () => bench.authorise(),
    credentialsInBody: dialect === 'array',
    store,
    vault: new Vault(Buffer.alloc(32, 7)),
    clock,
    log: createLog('test', 'info', { write: (line) => logged.push(line) }),
    version: '1.2.3',
    onAnswered: (call) => void answered.push(call),
  });
  t.after(() => app.close());
  return Object.assign(bench, { app });
}

/** One in three services looks a token up asynchronously. */
function tokenHolder({ headers, params }: CredentialSource): Actor | undefined | Promise<Actor | undefined> {
  const later = headers['x-later'] !== undefined;
  const actor = actors.get(headers['x-token'] ?? params['access_key']);
  return later ? Promise.resolve(actor) : actor;
}

function echo(input: unknown): { input: string } {
  return {
    input: JSON.stringify(input, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value,
    ),
  };
}
