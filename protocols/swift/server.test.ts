import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { until } from '../../testing/waiting.ts';
import { ALPHA, serveSwift, type SwiftFixture } from './testing/serve.ts';

let swift: SwiftFixture;
before(async () => {
  swift = await serveSwift();
  await swift.ask('/c', { method: 'PUT' });
});
after(() => swift.close());

/** A connection written to by hand, with all that came back so far. */
class Wire {
  readonly socket: Socket;
  received = '';

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('data', (chunk: Buffer) => (this.received += chunk.toString('latin1')));
    this.socket.on('error', () => undefined);
  }

  send(head: readonly string[], body = ''): void {
    this.socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  }

  until(pattern: RegExp): Promise<string> {
    return until(() => pattern.test(this.received) && this.received, `the reply matches ${String(pattern)}`);
  }
}

const path = `/v1/AUTH_${ALPHA}/c/o`;
const put = (length: number, ...more: string[]) => [
  `PUT ${path} HTTP/1.1`,
  'Host: x',
  `Content-Length: ${length}`,
  ...more,
];

async function recordsAfter(count: number): Promise<SwiftFixture['records']> {
  await until(() => swift.records.length >= count, `${count} records`);
  return swift.records;
}

test('who waits for 100 Continue gets it after being let in, and not before', async () => {
  const wire = new Wire(swift.port);
  wire.send(put(5, 'X-Auth-Token: tk-ann', 'Expect: 100-continue'));
  await wire.until(/100 Continue/);
  wire.socket.write('hello');
  await wire.until(/201 Created/);
  wire.socket.destroy();
  const refused = new Wire(swift.port);
  refused.send(put(5, 'X-Auth-Token: wrong', 'Expect: 100-continue'));
  const answer = await refused.until(/401 Unauthorized[^]*<\/html>/);
  assert.doesNotMatch(answer, /100 Continue/);
  assert.match(answer, /connection: close/i);
  if (!refused.socket.closed) await once(refused.socket, 'close');
});

test('a connection serves the next request after a refusal whose body was not read', async () => {
  const wire = new Wire(swift.port);
  wire.send(put(100_000), 'x'.repeat(100_000));
  await wire.until(/401 Unauthorized/);
  wire.send([`GET /healthcheck HTTP/1.1`, 'Host: x']);
  await wire.until(/\r\n\r\nOK$/);
  wire.socket.destroy();
});

test('the answer to a refused upload arrives although the client is still sending', async () => {
  const wire = new Wire(swift.port);
  wire.send(put(5_368_709_123, 'X-Auth-Token: tk-ann'));
  wire.socket.write('x'.repeat(1_000_000));
  await wire.until(/413 Request Entity Too Large[^]*Your request is too large/);
  wire.socket.destroy();
});

test('a failed store in the middle of an upload is answered and the connection stays usable', async () => {
  swift.store.fault = new Error('broken');
  const reply = await swift.put('/c/broken', 'x'.repeat(2_000_000));
  swift.store.fault = undefined;
  assert.equal(reply.status, 500);
  assert.doesNotMatch(reply.text, /broken/);
  assert.equal(swift.errors.length, 1);
});

test('an upload that is cut off leaves nothing, and is on record once', async () => {
  for (const length of [1000, 3_000_000]) {
    const wire = new Wire(swift.port);
    swift.lastRequest = undefined;
    wire.send(
      put(length, 'X-Auth-Token: tk-ann').map((line) => line.replace('/c/o', '/c/cut')),
      'x'.repeat(500),
    );
    // Unread bytes are gone with the connection.
    const isRead = () => swift.lastRequest?.readableDidRead === true;
    await until(isRead, 'the request is read');
    wire.socket.destroy();
  }
  // Records of earlier requests may still come in.
  const cut = () => swift.records.filter(({ key }) => key === 'cut');
  await until(() => cut().length >= 2, 'both requests are recorded');
  const wanted = Array<unknown>(2).fill([499, 500]);
  assert.deepEqual(
    cut().map(({ status, bytesIn }) => [status, bytesIn]),
    wanted,
  );
  assert.equal((await swift.ask('/c/cut')).status, 404);
});

test('without a length a PUT is refused', async () => {
  const wire = new Wire(swift.port);
  wire.send([`PUT ${path} HTTP/1.1`, 'Host: x', 'X-Auth-Token: tk-ann']);
  await wire.until(/411 Length Required/);
  wire.socket.destroy();
});

test('every request is on record once, with the bytes of objects and no others', async () => {
  const before = swift.records.length;
  await swift.put('/c/metered', '12345');
  await swift.ask('/c/metered');
  await swift.ask('/c/metered', { headers: { range: 'bytes=1-2' } });
  await swift.ask('/c/metered', { method: 'HEAD' });
  await swift.ask('/c?format=json');
  await swift.ask('/c/metered', { method: 'DELETE' });
  await swift.ask('/c/metered');
  await swift.ask('', { token: null });
  await swift.ask('/info', { token: null });
  const records = (await recordsAfter(before + 9)).slice(before);
  const shown = records.map((record) =>
    [
      record.action,
      record.class,
      record.subject,
      record.status,
      record.bytesIn,
      record.bytesOut,
      record.bytesDeleted,
    ].join(' '),
  );
  assert.deepEqual(shown, [
    'PUT object put object 201 5 0 0',
    'GET object get object 200 0 5 0',
    'GET object get object 206 0 2 0',
    'HEAD object get object 200 0 0 0',
    'GET container get bucket 200 0 0 0',
    'DELETE object delete object 204 0 0 5',
    'GET object get object 404 0 0 0',
    'GET account get account 401 0 0 0',
    'GET other service 200 0 0 0',
  ]);
  assert.deepEqual(
    [records[0]?.account, records[0]?.username, records[0]?.bucket, records[0]?.key],
    [ALPHA, 'ann', 'c', 'metered'],
  );
  assert.equal(records[0]?.policy, 0);
});

test('names are stored and returned exactly', async () => {
  for (const name of [
    '../up',
    './here',
    'a//b',
    '/lead',
    'trail/',
    '%2e%2e',
    'q?#&',
    '\u{1F600}',
    '\u0001',
    'x'.repeat(1024),
  ]) {
    const address = `/c/${encodeURIComponent(name)}`;
    assert.equal((await swift.put(address, name)).status, 201, name);
    assert.equal((await swift.ask(address)).text, name);
    const listed = JSON.parse((await swift.ask('/c?format=json')).text) as { name: string }[];
    assert.ok(
      listed.some((entry) => entry.name === name),
      name,
    );
    assert.equal((await swift.ask(address, { method: 'DELETE' })).status, 204);
  }
});

test('methods that are not there are refused with those that are', async () => {
  const reply = await swift.ask('/c', { method: 'PATCH' });
  assert.equal(reply.status, 405);
  assert.match(reply.headers.allow ?? '', /GET, HEAD, PUT, POST, DELETE/);
  assert.equal((await swift.ask('/v1/AUTH_/c')).status, 404);
  assert.equal((await swift.ask('/healthcheck', { token: null })).text, 'OK');
});

test('a download that is cut off is on record with what was sent, and nothing is left running', async () => {
  await swift.put('/c/long', Buffer.alloc(30_000_000, 1));
  const before = swift.records.length;
  const wire = new Wire(swift.port);
  wire.send([`GET ${path.replace('/o', '/long')} HTTP/1.1`, 'Host: x', 'X-Auth-Token: tk-ann']);
  await wire.until(/200 OK/);
  wire.socket.destroy();
  const record = (await recordsAfter(before + 1)).at(-1);
  assert.equal(record?.status, 200);
  assert.ok(record.bytesOut < 30_000_000);
  assert.equal((await swift.ask('/c/long', { method: 'DELETE' })).status, 204);
});

test('readers of an object that is replaced all the time get one version or another, whole', async () => {
  await swift.put('/c/busy', 'v'.repeat(1000));
  const writing = async () => {
    for (let n = 0; n < 40; n++) await swift.put('/c/busy', String(n % 10).repeat(1000 + n));
  };
  const reading = async () => {
    for (let n = 0; n < 80; n++) {
      const { status, text, headers } = await swift.ask('/c/busy');
      assert.equal(status, 200);
      assert.equal(text, text.charAt(0).repeat(Number(headers['content-length'])));
    }
  };
  await Promise.all([writing(), reading()]);
});
