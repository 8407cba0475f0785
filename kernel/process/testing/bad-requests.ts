import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { operations, type Api, type Operation } from '@granary/contract';
import fc from 'fast-check';
import type { HostedConfiguration } from '../configuration.ts';
import type { HostedProgram } from '../program.ts';
import { testConfiguration } from './configuration.ts';

export type Values = Readonly<Record<string, unknown>>;

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface BadRequest {
  readonly what: string;
  readonly asked: Asked;
  /** What the refusal must name. */
  readonly field?: string;
}

interface Tested {
  readonly api: Api;
  readonly served: readonly string[];
  readonly start: (configuration: HostedConfiguration) => Promise<HostedProgram>;
  /** The name of its file. */
  readonly database: string;
  /** The operation that takes a password and gives `user.access_key`. */
  readonly signIn: string;
  /** By operation: what a request that succeeds says. */
  readonly valid: Readonly<Record<string, Values>>;
  /** How a request that would succeed goes over the wire. */
  readonly ask: (operation: Operation, values: Values) => Asked;
  readonly spoil: (operation: Operation, values: Values) => fc.Arbitrary<BadRequest>;
}

interface Answered {
  readonly http: number;
  readonly code: number;
  readonly message: string;
  readonly text: string;
}

type Send = (asked: Asked, key: string | undefined, isXml?: boolean) => Promise<Answered>;

const RUNS = 200;
const ANSWER_MS_MAX = 10_000;
/** Node hangs up on a longer address before any of our code sees it. */
const ADDRESS_LENGTH_MAX = 8_000;
/** Codes that come with the HTTP status that means the same. */
const KEPT_HTTP = new Map([
  [404, 4],
  [413, 8],
]);
const INVALID_CREDENTIALS = 5;
const BAD_PARAMETER = 7;
const UNSUPPORTED_CONTENT = 10;
const NOT_SERVED = 2;
/** What tells of a request without being what it changed, and what is measured all the time. */
const NOT_STATE = new Set(['events', 'idempotency_keys', 'performance']);

/** The process under test, and what its tests ask of it. */
interface Running {
  readonly tested: Tested;
  readonly all: readonly Operation[];
  readonly state: State;
  readonly send: Send;
  readonly askToSignIn: (changes?: Values) => Asked;
  readonly newKey: () => Promise<string>;
}

/**
 * Goal: no request, however bad, makes a hosted process fail, hang or change anything.
 * Method: to each operation it serves, a request that would succeed is spoilt in 200 ways, drawn from a seed that is
 * printed and that `GRANARY_TEST_SEED` replays, once with an access key and once without. In the end the request that
 * was spoilt is sent as it is, to show that nothing else was wrong with it.
 */
export async function testBadRequests(tested: Tested): Promise<void> {
  const running = await run(tested);
  const served = running.all.filter(({ id }) => tested.served.includes(id));
  for (const operation of served) testSpoiltRequests(running, operation);
  testWrongCredentials(running, served);
  testEndlessAddress(running);
  testNotServed(running);
}

async function run(tested: Tested): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'granary-test-'));
  const configuration = testConfiguration(folder);
  const program = await tested.start(configuration);
  const agent = new Agent({ keepAlive: true });
  after(async () => {
    agent.destroy();
    await program.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const all = operations(tested.api);
  const send = senderTo(configuration.managementUrl, agent);
  const signIn = all.find(({ id }) => id === tested.signIn);
  assert.ok(signIn, `there is no ${tested.signIn}`);
  const askToSignIn = (changes: Values = {}) => tested.ask(signIn, { ...valuesOf(tested, signIn.id), ...changes });
  return {
    tested,
    all,
    state: new State(join(folder, tested.database)),
    send,
    askToSignIn,
    newKey: async () => keyIn(await send(askToSignIn(), undefined)),
  };
}

function testSpoiltRequests({ tested, state, send, newKey }: Running, operation: Operation): void {
  const seed = Number(process.env['GRANARY_TEST_SEED'] ?? Date.now() % 2 ** 31);
  const values = valuesOf(tested, operation.id);
  const spoilt = tested.spoil(operation, values).filter(({ asked }) => asked.path.length <= ADDRESS_LENGTH_MAX);
  test(`${operation.id} refuses ${RUNS} bad requests with a key and without and stays as it was`, async (t) => {
    t.diagnostic(`GRANARY_TEST_SEED=${seed}`);
    const key = await newKey();
    const before = state.dump();
    for (const given of [key, undefined]) {
      const isHeard = given !== undefined || operation.endpoint.access.roles === 'anyone';
      const property = fc.asyncProperty(spoilt, fc.boolean(), async (bad, isXml) => {
        const mark = state.mark();
        judge(bad, await send(bad.asked, given, isXml), isHeard);
        if (state.mark() !== mark) assert.deepEqual(state.dump(), before, 'something was written');
      });
      await fc.assert(property, { seed, numRuns: RUNS, timeout: ANSWER_MS_MAX, endOnFailure: true });
    }
    assert.deepEqual(state.dump(), before);
    const { http, code, text } = await send(tested.ask(operation, values), key);
    assert.deepEqual([http, code], [200, 0], text);
  });
}

function testWrongCredentials(
  { tested, state, send, askToSignIn, newKey }: Running,
  served: readonly Operation[],
): void {
  test('wrong passwords and wrong keys change nothing, and the right password still opens', async () => {
    const before = state.dump();
    const closed = served.find(({ endpoint }) => endpoint.access.roles !== 'anyone');
    assert.ok(closed, 'nothing that is served needs a key');
    const asked = tested.ask(closed, valuesOf(tested, closed.id));
    const answers = [
      await send(askToSignIn({ password: 'wrong' }), undefined),
      await send(askToSignIn({ user: "dana' OR 1=1 --" }), undefined),
      await send(asked, 'wrong'),
      await send(asked, 'k'.repeat(8000)),
    ];
    for (const { http, code, text } of answers) assert.deepEqual([http, code], [200, INVALID_CREDENTIALS], text);
    assert.deepEqual(state.dump(), before);
    assert.ok(await newKey());
  });
}

function testEndlessAddress({ state, send, askToSignIn, newKey }: Running): void {
  test('an address without end is refused on the wire, and the next request is served', async () => {
    const before = state.dump();
    const { method, path } = askToSignIn();
    // The server hangs up in the middle of it, so its answer may be lost with the connection.
    await assert.rejects(
      send({ method, path: `${path}?user=${'x'.repeat(100_000)}` }, undefined),
      /ECONNRESET|EPIPE|431: /,
    );
    assert.deepEqual(state.dump(), before);
    assert.ok(await newKey());
  });
}

function testNotServed({ tested, all, state, send, newKey }: Running): void {
  test('what is not served yet says so with HTTP 501 to who is signed in, and nothing to others', async () => {
    const key = await newKey();
    const before = state.dump();
    const missing = all.filter(({ id }) => !tested.served.includes(id));
    assert.ok(missing.length > 0, 'everything is served: this test has had its day');
    for (const { id, endpoint } of missing) {
      const asked = { method: endpoint.method, path: `/api${endpoint.path.replace(/\{[^}]+\}/g, '1')}` };
      const known = await send(asked, key);
      assert.deepEqual([known.http, known.code], [501, NOT_SERVED], `${id}: ${known.text}`);
      assert.ok(known.message.includes(id), known.message);
      if (endpoint.access.roles === 'anyone') continue;
      const unknown = await send(asked, undefined);
      assert.deepEqual([unknown.http, unknown.code], [200, INVALID_CREDENTIALS], `${id}: ${unknown.text}`);
    }
    assert.deepEqual(state.dump(), before);
  });
}

function valuesOf({ valid }: Tested, id: string): Values {
  const values = valid[id];
  assert.ok(values, `${id} is served: add a request of it that succeeds to \`valid\``);
  return values;
}

function judge({ field }: BadRequest, { http, code, message, text }: Answered, isHeard: boolean): void {
  assert.ok(Number.isInteger(code) && code !== 0, text);
  assert.notEqual(message.trim(), '', text);
  if (http !== 200) assert.equal(KEPT_HTTP.get(http), code, `${http}: ${text}`);
  if (field !== undefined && (isHeard || field === 'body')) {
    assert.deepEqual([http, code], [200, BAD_PARAMETER], text);
    assert.ok(new RegExp(`\\b${field}\\b`).test(message), `${field} is not named: ${message}`);
  } else if (field !== undefined) {
    assert.deepEqual([http, code], [200, INVALID_CREDENTIALS], text);
  } else if (http === 200 && !isHeard && code !== INVALID_CREDENTIALS) {
    // Only what cannot be read at all is refused before anyone asks who sent it.
    const isUnread = code === BAD_PARAMETER && /\bbody\b|could not be read/.test(message);
    assert.ok(isUnread || code === UNSUPPORTED_CONTENT, text);
  }
}

function keyIn({ text }: Answered): string {
  const { response } = JSON.parse(text) as { response: { user?: { access_key: string } } };
  assert.ok(response.user, text);
  return response.user.access_key;
}

/** Over a real socket, bodies on every verb: neither `fetch` nor an injected request goes where these do. */
function senderTo(url: string, agent: Agent): Send {
  const { hostname, port } = new URL(url);
  return ({ method, path, headers, body }, key, isXml = false) =>
    new Promise<[number, string]>((resolve, reject) => {
      const bytes = Buffer.from((body ?? '') as string | Buffer);
      const sent = request({
        agent,
        hostname,
        port,
        method,
        path,
        timeout: ANSWER_MS_MAX,
        headers: {
          ...headers,
          ...(body !== undefined && { 'content-length': bytes.length }),
          ...(key !== undefined && { 'x-access-key': key }),
          ...(isXml && { accept: 'application/xml' }),
        },
      });
      sent.on('timeout', () => sent.destroy(new Error(`no answer within ${ANSWER_MS_MAX} ms`)));
      sent.on('error', reject);
      sent.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          resolve([response.statusCode ?? 0, Buffer.concat(chunks).toString()]);
        });
      });
      sent.end(bytes);
    }).then(([http, text]) => answerOf(http, text));
}

/** By what came, not by what was asked for: a suffix of the address goes over the Accept header. */
function answerOf(http: number, text: string): Answered {
  if (text.startsWith('<')) {
    const inside = (tag: string) => new RegExp(`<${tag}[^>]*>([^<]*)</${tag}>`).exec(text)?.[1] ?? '';
    return { http, code: Number.parseInt(inside('status'), 10), message: inside('status-msg'), text };
  }
  const { response } = JSON.parse(text) as { response?: { status: number; message?: string } };
  assert.ok(response, `${http}: ${text}`);
  return { http, code: response.status, message: response.message ?? '', text };
}

/** The state of a process that has its database to itself: read from a copy of the file and its log. */
class State {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** Changes with anything that is written. */
  mark(): string {
    return ['', '-wal']
      .map((suffix) => statSync(`${this.#file}${suffix}`, { bigint: true, throwIfNoEntry: false }))
      .map((found) => `${found?.size} ${found?.mtimeNs}`)
      .join();
  }

  /** Every row of every table that is part of the state. */
  dump(): Record<string, unknown[]> {
    const folder = mkdtempSync(join(tmpdir(), 'granary-dump-'));
    const copy = join(folder, 'copy.db');
    for (const suffix of ['', '-wal'])
      if (existsSync(`${this.#file}${suffix}`)) copyFileSync(`${this.#file}${suffix}`, `${copy}${suffix}`);
    const database = new DatabaseSync(copy);
    try {
      const tables = database
        .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`)
        .all() as { name: string }[];
      const kept = tables.filter(({ name }) => !NOT_STATE.has(name));
      assert.ok(kept.some(({ name }) => name === 'users'));
      return Object.fromEntries(kept.map(({ name }) => [name, database.prepare(`SELECT * FROM ${name}`).all()]));
    } finally {
      database.close();
      rmSync(folder, { recursive: true });
    }
  }
}
