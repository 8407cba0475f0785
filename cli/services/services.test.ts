import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { temporaryFolder } from '../../testing/folders.ts';
import { until } from '../../testing/waiting.ts';
import { selfSigned } from '../../kernel/tls/self-signed.ts';
import { print } from '../terminal.ts';
import { FakeTerminal } from '../testing/terminal.ts';
import { makeFolder } from './folder.ts';
import { openLogs } from './log-file.ts';
import { placesOf, readAdminPassword, readPort } from './options.ts';
import { onPreferredPort, preferredPort } from './ports.ts';
import { runServices } from './run.ts';
import { ownCertificate, wantsTls } from './tls.ts';
import { printIfMoved, printReady, printReadyWithoutPortal, warnIfOpen } from './words.ts';

async function takenPort(t: TestContext): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

test('folders are made with those above them, for their owner alone', (t) => {
  const folder = join(temporaryFolder(t), 'a', 'b');
  makeFolder(folder);
  makeFolder(folder);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
});

test('a folder that cannot be made is an error, not an endless loop', { skip: !existsSync('/proc/self') }, () => {
  assert.throws(() => makeFolder('/proc/granary/data'));
});

test('the preferred port is used where it is free, else another that is shown', async (t) => {
  const host = '127.0.0.1';
  const taken = await takenPort(t);
  const start = (port: number) => Promise.resolve(port);
  const moved = await onPreferredPort({ host, port: taken }, start);
  assert.ok(moved > taken && moved < taken + 100, `${moved} is near ${taken}`);
  const free = await freedPort();
  assert.equal(await onPreferredPort({ host, port: free }, start), free);
  const lost = (port: number) =>
    port === 0 ? Promise.resolve(port) : Promise.reject(Object.assign(new Error('lost'), { code: 'EADDRINUSE' }));
  // Another process bound the port between the check and the start.
  assert.equal(await onPreferredPort({ host, port: free }, lost), 0);
});

test('a port that another part of the process is going to use is left to it', async () => {
  const port = await freedPort();
  assert.notEqual(await preferredPort({ host: '127.0.0.1', port, apartFrom: [port] }), port);
});

test('where the portal moved to is said', () => {
  const terminal = new FakeTerminal();
  printIfMoved(terminal, 'http://127.0.0.1:7400');
  assert.equal(terminal.err, '');
  printIfMoved(terminal, 'http://127.0.0.1:7402');
  assert.equal(
    terminal.err,
    'Port 7400 is taken; the portal listens on 7402. Sign in with --url http://127.0.0.1:7402.\n',
  );
});

async function freedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

test('ports and certificates are checked before anything starts', (t) => {
  assert.equal(readPort('7400', '--port'), 7400);
  for (const text of ['65536', '-1', 'http', '']) assert.throws(() => readPort(text, '--port'), { exitCode: 2 }, text);
  const folder = temporaryFolder(t);
  const [tlsCert, tlsKey, noPem] = ['cert', 'key', 'text'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const pair = selfSigned('portal.example.org', ['portal.example.org'], Date.now());
  writeFileSync(tlsCert, pair.cert);
  writeFileSync(tlsKey, pair.key);
  writeFileSync(noPem, 'PEM');
  assert.equal(ownCertificate({}), undefined);
  assert.equal(ownCertificate({ tlsCert, tlsKey })?.source.current.cert, pair.cert);
  assert.throws(() => ownCertificate({ tlsCert: noPem, tlsKey }), { exitCode: 1, message: /text.*cannot be read/ });
  assert.throws(() => ownCertificate({ tlsCert, tlsKey: `${tlsKey}.no` }), {
    exitCode: 1,
    message: /--tls-key: .*ENOENT/,
  });
});

test('loopback is served in the clear, every other address over TLS, unless it is said otherwise', () => {
  for (const host of ['127.0.0.1', '127.9.9.9', 'localhost', '::1']) {
    assert.equal(wantsTls(host, {}), false, host);
    assert.equal(wantsTls(host, { tls: true }), true, host);
    assert.equal(wantsTls(host, { tlsCert: 'c', tlsKey: 'k' }), true, host);
  }
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'portal.example.org', '128.0.0.1', '127.example.org']) {
    assert.equal(wantsTls(host, {}), true, host);
    assert.equal(wantsTls(host, { insecureHttp: true }), false, host);
  }
  assert.throws(() => wantsTls('0.0.0.0', { tls: true, insecureHttp: true }), { exitCode: 2, message: /contradict/ });
  assert.throws(() => wantsTls('0.0.0.0', { tlsCert: 'c' }), { exitCode: 2, message: /belong together/ });
});

test('parts stop in the reverse of the order they started in, at a signal', async (t) => {
  const places = placesOf({ data: join(temporaryFolder(t), 'data'), host: '127.0.0.1' });
  const order: string[] = [];
  const part = (name: string) => ({
    name,
    stop: () => Promise.resolve(void order.push(`${name} stops`)),
  });
  const terminal = new FakeTerminal();
  await runServices({
    ...places,
    portFlags: {},
    terminal,
    async start(logFor, started) {
      logFor('cloud').info('up');
      started(part('cloud'));
      started(part('portal'));
      // Ctrl-C often arrives twice, by way of npm: it is the same one.
      process.emit('SIGINT');
      process.emit('SIGINT');
    },
  });
  assert.deepEqual(order, ['portal stops', 'cloud stops']);
  await until(() => /"service":"cloud".*"msg":"up"/.test(readFileSync(places.log, 'utf8')));
  assert.equal(statSync(places.log).mode & 0o777, 0o600);
});

test('a service whose output is closed goes on, and stops cleanly', async (t) => {
  const places = placesOf({ data: join(temporaryFolder(t), 'data'), host: '127.0.0.1' });
  const closed = () =>
    new Writable({
      write: (_, __, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
    });
  const terminal = Object.assign(new FakeTerminal(), { stdout: closed(), stderr: closed() });
  terminal.stdout.on('error', () => assert.fail('it would have ended as a command does'));
  let stopped = false;
  await runServices({
    ...places,
    portFlags: {},
    terminal,
    async start(_, started) {
      print(terminal, 'ready');
      started({ name: 'cloud', stop: () => Promise.resolve(void (stopped = true)) });
      process.emit('SIGTERM');
    },
  });
  assert.ok(stopped);
  assert.doesNotMatch(readFileSync(places.log, 'utf8'), /EPIPE/);
});

test('what had started is stopped when a later part does not start', async (t) => {
  const places = placesOf({ data: join(temporaryFolder(t), 'data'), host: '127.0.0.1' });
  let stopped = false;
  const run = runServices({
    ...places,
    portFlags: { 7400: '--port' },
    terminal: new FakeTerminal(),
    start(_, started) {
      started({ name: 'cloud', stop: () => Promise.resolve(void (stopped = true)) });
      const taken = { code: 'EADDRINUSE', syscall: 'listen', address: '127.0.0.1', port: 7400 };
      return Promise.reject(Object.assign(new Error('listen EADDRINUSE'), taken));
    },
  });
  await assert.rejects(run, { exitCode: 1, message: /Port 7400 on 127\.0\.0\.1 is taken/ });
  assert.ok(stopped);
});

test('a log that has grown large is set aside at the start, and one before it is kept', async (t) => {
  const file = join(temporaryFolder(t), 'granary.log');
  writeFileSync(file, 'x'.repeat(100));
  (await openLogs(file, 100))('test').info('goes on');
  assert.match(readFileSync(file, 'utf8'), /^x{100}.*goes on/);
  (await openLogs(file, 100))('test').info('starts over');
  assert.match(readFileSync(file, 'utf8'), /^\{.*starts over/);
  assert.match(readFileSync(`${file}.1`, 'utf8'), /goes on/);
});

test('a first password that is too short is refused before anything is made', () => {
  const read = (password: string) => readAdminPassword(new FakeTerminal({ env: { GRANARY_ADMIN_PASSWORD: password } }));
  assert.equal(read('long enough'), 'long enough');
  assert.equal(read(''), undefined);
  assert.throws(() => read('short'), {
    exitCode: 2,
    message: /GRANARY_ADMIN_PASSWORD must have at least 8 characters/,
  });
});

test('the first password leaves the environment, which arrays would inherit', () => {
  const terminal = new FakeTerminal({ env: { GRANARY_ADMIN_PASSWORD: 'long enough', OTHER: 'stays' } });
  assert.equal(readAdminPassword(terminal), 'long enough');
  assert.deepEqual(terminal.env, { OTHER: 'stays' });
});

test('an address that others reach is warned of, unless it is encrypted', () => {
  const warned = (host: string, isEncrypted = false) => {
    const terminal = new FakeTerminal();
    warnIfOpen(terminal, host, isEncrypted, 'Mend it.');
    return terminal.err;
  };
  for (const host of ['127.0.0.1', '127.8.0.1', 'localhost', '::1']) assert.equal(warned(host), '', host);
  for (const host of ['0.0.0.0', '::', '192.0.2.1', '127.evil.example'])
    assert.match(warned(host), /^Warning: .* without encryption.* Mend it\.\n$/, host);
  assert.equal(warned('0.0.0.0', true), '');
});

test('the line that says Granary is ready counts the arrays that are up, starting and failed', () => {
  const line = (up: number, starting: number, failed = 0) => {
    const terminal = new FakeTerminal();
    printReady(terminal, 'http://here', [['User', 'admin']], { up, starting, failed });
    return terminal.out.split('\n').at(-2);
  };
  assert.equal(line(0, 0), 'Granary is ready: http://here (0 arrays up, 0 starting)');
  assert.equal(line(1, 19), 'Granary is ready: http://here (1 array up, 19 starting)');
  assert.equal(line(2, 0, 1), 'Granary is ready: http://here (2 arrays up, 0 starting, 1 failed)');
  const terminal = new FakeTerminal();
  printReadyWithoutPortal(terminal, 'http://there', { up: 1, starting: 2, failed: 0 });
  assert.match(terminal.out, /^Granary is ready, without its portal; .*http:\/\/there \(1 array up, 2 starting\)\n$/);
});
