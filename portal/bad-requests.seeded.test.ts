import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { askedOf, usualEncoding, type Asked } from '../kernel/http/testing/encodings.ts';
import { badRequests, type BadRequest } from '../kernel/http/testing/bad-requests.ts';
import { rounds } from '../testing/effort.ts';
import { startTestPortal, type Person } from './testing/portal.ts';
import { portalOperations, validValues } from './testing/valid-requests.ts';

/**
 * Goal: no request, however bad, makes the portal fail, hang or change anything.
 * Method: to each operation a request that would succeed is spoilt in many ways, drawn from a seed that is printed and
 * that `GRANARY_TEST_SEED` replays, once as an administrator and once as an ordinary user. In the end the request
 * that was spoilt is sent as it is, to show that nothing else was wrong with it.
 */
const portal = await startTestPortal();
after(() => portal.stop());
// It writes down when it last saw the clouds, whatever is asked.
await portal.services.watcher.stop();

const { admin, owner } = portal;
/** A failure prints its seed. */
const seed = Number(process.env['GRANARY_TEST_SEED'] ?? Date.now() % 2 ** 31);
const RUNS = rounds({ quick: 4, long: 30, torture: 200 });
const ANSWER_MS_MAX = 60_000;

/** Rows written since the portal started: grows with anything that is kept. */
const changes = () => portal.store.read((db) => db.get<{ n: number }>('SELECT total_changes() AS n'))?.n;

function namesField(text: string, isXml: boolean, field: string): boolean {
  if (isXml) return text.includes(`<field>${field}</field>`);
  const { errors = [] } = JSON.parse(text) as { errors?: { field: string }[] };
  return errors.some((problem) => problem.field === field);
}

function send(person: Person, { asked }: BadRequest, isXml: boolean) {
  const headers = { ...asked.headers, ...(isXml && { accept: 'application/xml' }) };
  return portal.send(person, { ...asked, headers } as Asked);
}

for (const operation of portalOperations) {
  const { roles } = operation.endpoint.access;
  test(`${operation.id} refuses ${RUNS} bad requests of an administrator and of a user and stays as it was`, async () => {
    const values = await validValues(operation, portal, owner);
    await portal.rest();
    const before = portal.dump();
    for (const person of [admin, owner]) {
      const isHeard = roles === 'anyone' || roles.includes(person === admin ? 'admin' : 'user');
      const property = fc.asyncProperty(badRequests(operation, values), fc.boolean(), async (bad, isXml) => {
        const written = changes();
        const { status, text } = await send(person, bad, isXml);
        assert.ok(status >= 400 && status < 500, `${status}: ${text}`);
        // Too long for XML, and for a request without a token.
        const isTooLarge = status === 413 && String(bad.asked.body).length > 64 * 1024;
        if (bad.field !== undefined && isHeard && !isTooLarge) {
          assert.equal(status, 400, text);
          assert.ok(namesField(text, isXml, bad.field), `${bad.field} is not named: ${text}`);
        }
        assert.equal(changes(), written, 'something was written');
      });
      await fc.assert(property, { seed, numRuns: RUNS, plugins: [fc.timeout(ANSWER_MS_MAX)], endOnFailure: true });
    }
    assert.deepEqual(portal.dump(), before);
    // What users do for themselves was prepared for the owner.
    const sender = operation.group === 'me' ? owner : admin;
    const { status, text } = await portal.send(sender, askedOf(operation, values, usualEncoding(operation)));
    assert.equal(status, 200, text);
  });
}

/** What comes back for these bytes before the server closes or `ANSWER_MS_MAX` is over. */
function exchange(bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(portal.url);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.end(bytes));
    socket.setTimeout(ANSWER_MS_MAX, () => {
      socket.destroy(new Error('no answer'));
    });
    socket.on('data', (chunk) => chunks.push(chunk));
    // A server may well hang up on what is no HTTP at all.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') resolve('');
      else reject(error);
    });
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
  });
}

const head = (rest: string) => `POST /api/arrays HTTP/1.1\r\nHost: x\r\nX-Token: ${owner.token}\r\n${rest}\r\n\r\n`;

const wires: readonly (readonly [string, string | Buffer])[] = [
  ['bytes that are no HTTP', Buffer.from([0, 1, 2, 255, 254, 13, 10, 13, 10])],
  ['an unknown method', 'BREW /api/arrays HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['an unknown version', 'GET /api/arrays HTTP/9.9\r\nHost: x\r\n\r\n'],
  ['no host', 'GET /api/arrays HTTP/1.1\r\n\r\n'],
  ['headers without end', `GET /api/arrays HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(100_000)}\r\n\r\n`],
  ['an address without end', `GET /api/arrays/${'9'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ['a negative length', head('Content-Type: application/json\r\nContent-Length: -1')],
  ['two lengths', head('Content-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 3')],
  ['a length and chunks', head('Content-Length: 5\r\nTransfer-Encoding: chunked')],
  ['a body shorter than its length', `${head('Content-Type: application/json\r\nContent-Length: 500')}{"name":`],
  [
    'chunks that are none',
    `${head('Content-Type: application/json\r\nTransfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`,
  ],
  ['chunks without end', `${head('Content-Type: application/json\r\nTransfer-Encoding: chunked')}2\r\n{}\r\n`],
  [
    'an unknown encoding',
    `${head('Content-Type: application/json\r\nContent-Encoding: br\r\nContent-Length: 4')}\x8b\x01\x80{`,
  ],
  ['an unknown expectation', head('Expect: 200-maybe\r\nContent-Length: 0')],
  [
    'a request to change the protocol',
    'GET /api/arrays HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  ],
];

for (const [what, bytes] of wires) {
  test(`${what} on the wire changes nothing, and the next request is served`, async () => {
    const before = portal.dump();
    const answer = await exchange(bytes);
    assert.match(answer, /^$|^HTTP\/1\.1 4\d\d /, answer.slice(0, 300));
    assert.deepEqual(portal.dump(), before);
    const next = await fetch(`${portal.url}/api/arrays`, { headers: { 'x-token': owner.token } });
    assert.equal(next.status, 200);
  });
}

test('a thousand bad requests at the same time are all answered', async () => {
  const before = portal.dump();
  const paths = ['/api/arrays/x', '/api/arrays', '/api/clouds/1/drive_types/zz', '/api/nowhere'];
  const answers = await Promise.all(
    Array.from({ length: 1000 }, (_, index) =>
      portal.send(owner, { method: 'POST', path: paths[index % paths.length] as string, body: { drives: index } }),
    ),
  );
  assert.deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [400, 403, 404]);
  assert.deepEqual(portal.dump(), before);
});
