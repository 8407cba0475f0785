import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { operations, type Api, type Operation } from '@granary/contract';
import fc from 'fast-check';
import { rounds } from '../../../testing/effort.ts';
import { isDeclared } from './declared.ts';
import { ServiceState } from './service-state.ts';
import { wireTo } from './wire.ts';

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

/** A process under test. */
interface Target {
  readonly url: string;
  /** Its file. */
  readonly database: string;
}

export interface Tested {
  readonly api: Api;
  readonly served: readonly string[];
  /** It lasts as long as the file of tests. */
  readonly start: () => Promise<Target>;
  /** The operation that takes a password and gives `user.access_key`. */
  readonly signIn: string;
  /** What a request that succeeds says. */
  readonly valid: (operation: Operation) => Values | Promise<Values>;
  /** What it needs does not last: it is made anew for the request that succeeds in the end. */
  readonly isPassing?: (operation: Operation) => boolean;
  /** The code of an operation that is refused however it is asked for. */
  readonly alwaysRefused?: (operation: Operation) => number | undefined;
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

type IsMeant = (operation: Operation) => boolean;
type Ask = (asked: Asked, key: string | undefined, isXml?: boolean) => Promise<Answered>;

/** `npm test` takes a third of the operations, `npm run test:long` all of them. */
const EVERY = rounds({ quick: 4, long: 1, torture: 1 });
const RUNS = rounds({ quick: 4, long: 30, torture: 200 });
/** Without a key few of them get far. */
const RUNS_WITHOUT_KEY = rounds({ quick: 2, long: 10, torture: 200 });
const ANSWER_MS_MAX = 60_000;
const SMALL_BODY_BYTES_MAX = 64 * 1024;
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

/** The process under test, and what its tests ask of it. */
interface Running {
  readonly tested: Tested;
  readonly all: readonly Operation[];
  readonly state: ServiceState;
  readonly send: Ask;
  readonly askToSignIn: (changes?: Values) => Promise<Asked>;
  readonly newKey: () => Promise<string>;
}

/**
 * Goal: no request, however bad, makes a hosted process fail, hang or change anything.
 * Method: to each operation it serves, a request that would succeed is spoilt in many ways, drawn from a seed that is
 * printed and that `GRANARY_TEST_SEED` replays, and sent with an access key; some of them, or all, without one, too. In
 * the end the request that was spoilt is sent as it is, to show that nothing else was wrong with it.
 */
export async function testBadRequests(tested: Tested, isMeant: IsMeant = () => true): Promise<void> {
  const running = await testSpoiltRequests(tested, isMeant);
  testWrongCredentials(running);
  testEndlessAddress(running);
  testNotServed(running);
}

/** For a second file of tests, where all that is served would be too much for one. */
export async function testSpoiltRequests(tested: Tested, isMeant: IsMeant): Promise<Running> {
  const running = await run(tested);
  const meant = servedBy(running).filter(isMeant);
  for (const operation of meant.filter((_, at) => at % EVERY === 0)) testSpoiltRequestsTo(running, operation);
  return running;
}

function servedBy({ all, tested }: Running): Operation[] {
  return all.filter(({ id }) => tested.served.includes(id));
}

async function run(tested: Tested): Promise<Running> {
  const { url, database } = await tested.start();
  const all = operations(tested.api);
  const send = askerAt(url);
  const signIn = all.find(({ id }) => id === tested.signIn);
  assert.ok(signIn, `there is no ${tested.signIn}`);
  const askToSignIn = async (changes: Values = {}) =>
    tested.ask(signIn, { ...(await tested.valid(signIn)), ...changes });
  return {
    tested,
    all,
    state: new ServiceState(database),
    send,
    askToSignIn,
    newKey: async () => keyIn(await send(await askToSignIn(), undefined)),
  };
}

function testSpoiltRequestsTo({ tested, state, send, newKey }: Running, operation: Operation): void {
  // A failure prints its seed.
  const seed = Number(process.env['GRANARY_TEST_SEED'] ?? Date.now() % 2 ** 31);
  const refusal = tested.alwaysRefused?.(operation);
  const succeeds = refusal === undefined ? [0, tested.api.asyncStatus] : [refusal];
  test(`${operation.id} refuses ${RUNS} bad requests, ${RUNS_WITHOUT_KEY} without a key, and stays as it was`, async () => {
    const key = await newKey();
    const values = await tested.valid(operation);
    const spoilt = tested.spoil(operation, values).filter(({ asked }) => asked.path.length <= ADDRESS_LENGTH_MAX);
    const before = await state.atRest();
    for (const given of [key, undefined]) {
      const hearing = hearingOf(operation, given);
      const property = fc.asyncProperty(spoilt, fc.boolean(), async (bad, isXml) => {
        const mark = state.mark();
        const answer = await send(bad.asked, given, isXml);
        checkAnswer(bad, answer, hearing);
        // A spoilt address may reach another operation.
        const isOwn = !bad.what.startsWith('the address') && answer.http === 200;
        assert.ok(!isOwn || isDeclared(operation.endpoint, answer.code), `the contract lacks error ${answer.code}`);
        if (state.mark() !== mark) assert.deepEqual(state.dump(), before, 'something was written');
      });
      const numRuns = given === undefined ? RUNS_WITHOUT_KEY : RUNS;
      await fc.assert(property, { seed, numRuns, plugins: [fc.timeout(ANSWER_MS_MAX)], endOnFailure: true });
    }
    assert.deepEqual(state.dump(), before);
    const again = tested.isPassing?.(operation) ? await tested.valid(operation) : values;
    const { http, code, text } = await send(tested.ask(operation, again), key);
    assert.ok(http === 200 && succeeds.includes(code), text);
  });
}

function testWrongCredentials(running: Running): void {
  const { tested, state, send, askToSignIn, newKey } = running;
  test('wrong passwords and wrong keys change nothing, and the right password still opens', async () => {
    const before = await state.atRest();
    const closed = servedBy(running).find(({ endpoint }) => endpoint.access.roles !== 'anyone');
    assert.ok(closed, 'nothing that is served needs a key');
    const asked = tested.ask(closed, await tested.valid(closed));
    const answers = [
      await send(await askToSignIn({ password: 'wrong' }), undefined),
      await send(await askToSignIn({ user: "dana' OR 1=1 --" }), undefined),
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
    const before = await state.atRest();
    const { method, path } = await askToSignIn();
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
  const missing = all.filter(({ id }) => !tested.served.includes(id));
  if (missing.length === 0) return;
  test('what is not served yet says so with HTTP 501 to who is signed in, and nothing to others', async () => {
    const key = await newKey();
    const before = await state.atRest();
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

/** Whether parameters are read: of who has a key they are, and of who gives a password in its place if that is right. */
type Hearing = 'heard' | 'refused' | 'by password';

function hearingOf({ id, endpoint }: Operation, key: string | undefined): Hearing {
  if (key !== undefined || endpoint.access.roles === 'anyone') return 'heard';
  return id === 'users.resetAccessKey' ? 'by password' : 'refused';
}

function checkAnswer({ field, asked }: BadRequest, { http, code, message, text }: Answered, hearing: Hearing): void {
  const isHeard = hearing === 'heard' || (hearing === 'by password' && code === BAD_PARAMETER);
  assert.ok(Number.isInteger(code) && code !== 0, text);
  assert.notEqual(message.trim(), '', text);
  if (http !== 200) assert.equal(KEPT_HTTP.get(http), code, `${http}: ${text}`);
  // Such a body is not read as XML, nor of an unauthenticated client.
  if (http === 413 && String(asked.body).length > SMALL_BODY_BYTES_MAX) return;
  if (field !== undefined && (isHeard || field === 'body')) {
    assert.deepEqual([http, code], [200, BAD_PARAMETER], text);
    assert.ok(new RegExp(`\\b${field}\\b`).test(message), `${field} is not named: ${message}`);
  } else if (field !== undefined) {
    assert.deepEqual([http, code], [200, INVALID_CREDENTIALS], text);
  } else if (http === 200 && !isHeard && code !== INVALID_CREDENTIALS) {
    // Only what cannot be parsed at all is refused before authentication.
    const isUnread = code === BAD_PARAMETER && /\bbody\b|could not be read/.test(message);
    assert.ok(isUnread || code === UNSUPPORTED_CONTENT, text);
  }
}

function keyIn({ text }: Answered): string {
  const { response } = JSON.parse(text) as { response: { user?: { access_key: string } } };
  assert.ok(response.user, text);
  return response.user.access_key;
}

function askerAt(url: string): Ask {
  const send = wireTo(url, after);
  return async ({ headers, ...asked }, key, isXml = false) => {
    const { http, text } = await send({
      ...asked,
      headers: {
        ...headers,
        ...(key !== undefined && { 'x-access-key': key }),
        ...(isXml && { accept: 'application/xml' }),
      },
    });
    return answerOf(http, text);
  };
}

/** By the response, not by the request: a suffix of the path overrides the Accept header. */
function answerOf(http: number, text: string): Answered {
  if (text.startsWith('<')) {
    const inside = (tag: string) => new RegExp(`<${tag}[^>]*>([^<]*)</${tag}>`).exec(text)?.[1] ?? '';
    return { http, code: Number.parseInt(inside('status'), 10), message: inside('status-msg'), text };
  }
  // A file of its own type is no refusal.
  if (!text.startsWith('{')) return { http, code: 0, message: '', text };
  const body = JSON.parse(text) as Record<string, unknown>;
  // One reply of the specification has another name for this level, some have none, and some have no status.
  const inner = 'status' in body ? body : Object.values(body)[0];
  assert.ok(inner, `${http}: ${text}`);
  const {
    status = 0,
    message,
    status_msg: statusMessage = '',
  } = inner as { status?: number; [field: string]: unknown };
  return { http, code: status, message: String(message ?? statusMessage), text };
}
