import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { anyone, endpoint, envelope, fileReply, int, response, str, success, type Api } from '@granary/contract';
import Type from 'typebox';
import { boolean, capacity, file, integer, json, list, name, optional, text, withDefault } from '../contract/params.ts';
import { cannedService, type Canned } from './testing/service.ts';
import {
  ApiError,
  arrayClient,
  cloudClient,
  ConnectionError,
  createClient,
  exchange,
  portalClient,
  StillRunning,
  type PortalClient,
} from './index.ts';

const access = anyone;
const messageReply = success({ message: str() });

const boxes = {
  list: endpoint('GET', '/boxes', {
    summary: 'List boxes',
    access,
    params: {
      name: optional(text('Name')),
      sizes: optional(list(integer('A size'), 'Sizes')),
      full: optional(boolean('Full')),
    },
    reply: success({ boxes: Type.Array(Type.Object({ id: Type.Integer() })) }),
  }),
  get: endpoint('GET', '/boxes/{box_id}', {
    summary: 'A box',
    access,
    params: { box_id: text('Box') },
    reply: messageReply,
  }),
  create: endpoint('POST', '/boxes', {
    summary: 'Make a box',
    access,
    params: {
      name: name('Name'),
      parts: json<Record<string, number>>(Type.Record(Type.String(), Type.Integer()), 'Parts'),
      size: withDefault(capacity('Size'), 1024),
    },
    reply: messageReply,
  }),
  fill: endpoint('POST', '/boxes/{box_id}/fill', {
    summary: 'Fill a box',
    access,
    params: { box_id: integer('Box'), label: text('Label'), content: file('Content') },
    reply: messageReply,
  }),
  remove: endpoint('DELETE', '/boxes/{box_id}', {
    summary: 'Remove a box',
    access,
    params: { box_id: integer('Box'), force: optional(boolean('Force')) },
    reply: messageReply,
  }),
  download: endpoint('GET', '/boxes/{box_id}/download', {
    summary: 'Fetch a box',
    access,
    params: { box_id: integer('Box') },
    reply: fileReply('application/zip'),
  }),
};

const portalLike = {
  name: 'boxes',
  title: '',
  description: '',
  dialect: 'portal',
  groups: { boxes },
} as const satisfies Api;

const crates = {
  get: endpoint('GET', '/crates/{id}', {
    summary: 'A crate',
    access,
    params: { id: text('Crate') },
    reply: response({ crate: Type.Object({ id: Type.String() }), count: int() }),
  }),
  bare: endpoint('GET', '/bare', { summary: 'Without the level', access, reply: envelope({}, { plain: str() }) }),
};

const arrayLike = {
  name: 'crates',
  title: '',
  description: '',
  dialect: 'array',
  asyncStatus: 1_073_751_835,
  groups: { crates },
} as const satisfies Api;

const ok: Canned = { body: JSON.stringify({ status: 'success', message: 'done' }) };
const jsonBody = (body: Buffer): unknown => JSON.parse(body.toString());

test('path parameters are part of the address, whatever they hold', async (t) => {
  const { url, seen } = await cannedService(t, () => ok);
  const reply = await createClient(portalLike, { url: `${url}/` }).boxes.get({ box_id: 'a/b ?#ü' });
  assert.deepEqual(reply, { status: 'success', message: 'done' });
  assert.equal(seen[0]?.path, `/api/boxes/${encodeURIComponent('a/b ?#ü')}`);
});

test('a path parameter that would make the address mean something else is refused before it is sent', async (t) => {
  const { url, seen } = await cannedService(t, () => ok);
  for (const box_id of ['', '.', '..']) {
    await assert.rejects(createClient(portalLike, { url }).boxes.get({ box_id }), TypeError);
  }
  assert.equal(seen.length, 0);
});

test('GET and DELETE send their parameters in the query, lists as JSON, absent ones not at all', async (t) => {
  const { url, seen } = await cannedService(t, () => ok);
  const { boxes: client } = createClient(portalLike, { url, headers: { 'x-token': 'abc' } });
  await client.list({ name: 'a&b', sizes: [1, 2], full: undefined });
  await client.remove({ box_id: 7, force: true });
  await client.list();
  assert.deepEqual(
    seen.map(({ method, path, query }) => [method, path, Object.fromEntries(query)]),
    [
      ['GET', '/api/boxes', { name: 'a&b', sizes: '[1,2]' }],
      ['DELETE', '/api/boxes/7', { force: 'true' }],
      ['GET', '/api/boxes', {}],
    ],
  );
  assert.ok(seen.every(({ headers }) => headers['x-token'] === 'abc'));
});

test('POST sends JSON, and a capacity with its unit', async (t) => {
  const { url, seen } = await cannedService(t, () => ok);
  const { boxes: client } = createClient(portalLike, { url });
  await client.create({ name: 'tank', parts: { small: 2 }, size: 2048 });
  assert.equal(seen[0]?.headers['content-type'], 'application/json');
  assert.deepEqual(jsonBody(seen[0].body), { name: 'tank', parts: { small: 2 }, size: '2048M' });
});

test('an upload goes as multipart, byte for byte', async (t) => {
  const { url, seen } = await cannedService(t, () => ok);
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  await createClient(portalLike, { url }).boxes.fill({
    box_id: 3,
    label: 'x,y',
    content: { filename: 'a.bin', bytes },
  });
  const { path, headers, body } = seen[0]!;
  assert.equal(path, '/api/boxes/3/fill');
  const [, boundary = ''] = /boundary=(.+)$/.exec(String(headers['content-type'])) ?? [];
  const parts = body.toString('latin1').split(`--${boundary}`).slice(1, -1);
  assert.match(parts[0] ?? '', /name="label"\r\n\r\nx,y\r\n$/);
  assert.match(parts[1] ?? '', /name="content"; filename="a\.bin"/);
  const content = (parts[1] ?? '').split('\r\n\r\n').slice(1).join('\r\n\r\n').slice(0, -2);
  assert.deepEqual(Buffer.from(content, 'latin1'), Buffer.from(bytes));
  assert.equal(parts.length, 2);
});

test('a file reply is its name and its bytes', async (t) => {
  const bytes = Uint8Array.from([80, 75, 0, 255]);
  const headers = { 'content-type': 'application/zip', 'content-disposition': 'attachment; filename="bill.zip"' };
  const { url } = await cannedService(t, () => ({ headers, body: bytes }));
  assert.deepEqual(await createClient(portalLike, { url }).boxes.download({ box_id: 1 }), {
    filename: 'bill.zip',
    bytes,
  });
});

test('an exchange holds the reply as it came and the number of records in all', async (t) => {
  const body = { response: { status: 0, crate: { id: 'c' }, count: 1 } };
  const { url } = await cannedService(t, () => ({ headers: { 'x-total-count': '1000' }, body: JSON.stringify(body) }));
  const answer = await exchange(arrayLike, crates.get, { url }, { id: 'c' });
  assert.deepEqual(answer, { body, value: body.response, total: 1000 });
});

test('a refusal of the portal carries its status, its message and what is wrong with each field', async (t) => {
  const problems = [{ field: 'name', message: 'is required' }];
  const body = JSON.stringify({ status: 'error', message: 'name is required.', errors: problems });
  const { url } = await cannedService(t, () => ({ status: 400, body }));
  const { boxes: client } = createClient(portalLike, { url });
  await assert.rejects(client.list(), (error: unknown) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.status, error.message, error.problems], [400, 'name is required.', problems]);
    return true;
  });
  // An endpoint that replies with a file says no in JSON like any other.
  await assert.rejects(client.download({ box_id: 1 }), { name: 'ApiError', status: 400 });
});

test('a refusal of an array carries the code of its reply, though HTTP says 200', async (t) => {
  const body = JSON.stringify({ response: { status: 10_081, message: 'Volume v was not found.' } });
  const { url } = await cannedService(t, () => ({ body }));
  const { crates: client } = createClient(arrayLike, { url });
  const refused = { name: 'ApiError', status: 10_081, message: 'Volume v was not found.' };
  await assert.rejects(client.get({ id: 'v' }), refused);
  await assert.rejects(client.bare(), refused);
});

test('an array that fails outright is refused with the HTTP status', async (t) => {
  const { url } = await cannedService(t, () => ({ status: 500, body: '{}' }));
  await assert.rejects(createClient(arrayLike, { url }).crates.bare(), { name: 'ApiError', status: 500 });
});

test('work that goes on after the reply is no refusal', async (t) => {
  const message = 'The request has been submitted.';
  const body = JSON.stringify({ response: { status: arrayLike.asyncStatus, message } });
  const { url } = await cannedService(t, () => ({ body }));
  await assert.rejects(createClient(arrayLike, { url }).crates.get({ id: 'c' }), (error: unknown) => {
    assert.ok(error instanceof StillRunning);
    assert.equal(error.message, message);
    return true;
  });
});

test('an answer that is not JSON says that this may be another service', async (t) => {
  const bodies = ['<html>', '"text"', ''];
  for (const body of bodies) {
    const { url } = await cannedService(t, () => ({ status: 502, body }));
    await assert.rejects(createClient(portalLike, { url }).boxes.list(), {
      name: 'ApiError',
      status: 502,
      message: /not JSON; is this the address of a Granary service/,
    });
  }
});

/** A port that is closed, or one with a server that behaves as the test says. */
async function rawServer(onConnection: (socket: Socket) => unknown) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    onConnection(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { server, stop, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('a closed port, a cut connection and silence are errors of the connection', async (t) => {
  const closed = await rawServer(() => undefined);
  closed.server.close();
  await once(closed.server, 'close');
  const cut = await rawServer((socket) => {
    socket.on('error', () => undefined);
    socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"half":');
  });
  const silent = await rawServer((socket) => socket.on('error', () => undefined));
  t.after(() => {
    cut.stop();
    silent.stop();
  });
  const list = (url: string, timeoutMs = 30_000) => createClient(portalLike, { url, timeoutMs }).boxes.list();
  await assert.rejects(list(closed.url), {
    name: 'ConnectionError',
    message: `No answer from ${closed.url}: ECONNREFUSED`,
  });
  await assert.rejects(list(cut.url), ConnectionError);
  await assert.rejects(list(silent.url, 200), {
    name: 'ConnectionError',
    message: /it took too long/,
    waitedMs: 200,
  });
});

test('a redirect is not followed: a token goes where it was meant to go', async (t) => {
  const elsewhere = await cannedService(t, () => ok);
  const { url } = await cannedService(t, () => ({ status: 302, headers: { location: elsewhere.url }, body: '{}' }));
  await assert.rejects(portalClient({ url, token: 'secret' }).arrays.list(), ConnectionError);
  assert.equal(elsewhere.seen.length, 0);
});

test('each service gets its credentials in its own way', async (t) => {
  const { url, seen } = await cannedService(t, () => ({ body: JSON.stringify({ response: { status: 0 } }) }));
  await portalClient({ url, token: 'tok' }).clouds.list();
  await arrayClient({ url, accessKey: 'key' }).drives.list();
  await cloudClient({ url, user: 'cloud', key: 'k' }).inventory.get();
  await portalClient({ url }).tokens.get({ username: 'a', password: 'b' });
  assert.equal(seen[0]?.headers['x-token'], 'tok');
  assert.equal(seen[1]?.headers['x-access-key'], 'key');
  assert.equal(seen[2]?.headers.authorization, `Basic ${Buffer.from('cloud:k').toString('base64')}`);
  assert.equal(seen[3]?.headers['x-token'], undefined);
});

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Awaited1<F extends (...args: never) => unknown> = Awaited<ReturnType<F>>;

/** Checked by the compiler: what the contract declares is what a caller may pass and gets. */
export const types = {
  nothingToPass: true satisfies Equal<Parameters<PortalClient['pricing']['get']>['length'], 0 | 1>,
  numberInPath: { array_id: 7 } satisfies Parameters<PortalClient['arrays']['get']>[0],
  order: { name: 'tank', moderate: false, provider: 'local', drives: { SSD_10GB: 2 } } satisfies Parameters<
    PortalClient['arrays']['create']
  >[0],
  // @ts-expect-error drives are required
  orderWithoutDrives: { name: 'tank', moderate: false, provider: 'local' } satisfies Parameters<
    PortalClient['arrays']['create']
  >[0],
  // @ts-expect-error a kind is one of two
  unknownKind: 'tape' satisfies Parameters<PortalClient['arrays']['create']>[0]['kind'],
  tokenIsText: true satisfies Equal<Awaited1<PortalClient['tokens']['get']>['data']['token'], string>,
  valueMayBeNull: true satisfies Equal<
    Awaited1<PortalClient['arrays']['list']>['data'][number]['nova_id'],
    number | null
  >,
  fileOfBytes: true satisfies Equal<Awaited1<PortalClient['billing']['download']>['bytes'], Uint8Array>,
};
