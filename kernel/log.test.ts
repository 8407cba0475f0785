import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLog, LogLines, type LogLevel } from './log.ts';

function capture(level: LogLevel = 'info') {
  const lines: string[] = [];
  const log = createLog('test', level, { write: (line) => lines.push(line) });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown> };
}

const secretNames = [
  'password new_password proxypassword encryption_pwd passwd initial_passcode token X-Token x-access-key access_key',
  'secret chap_secret secret_key admin_key internal_key Authorization cookie ssl_pem',
]
  .join(' ')
  .split(' ');

test('no secret is in a line, however it is nested', () => {
  const name = fc.constantFrom(...secretNames);
  const wrappings = fc.array(fc.constantFrom('object', 'list', 'error'), { maxLength: 4 });
  fc.assert(
    fc.property(name, wrappings, (secret, wraps) => {
      const { log, lines } = capture();
      let facts: object = { [secret]: 'hunter2' };
      for (const wrap of wraps) {
        if (wrap === 'object') facts = { inner: facts };
        if (wrap === 'list') facts = { inner: [facts] };
        if (wrap === 'error') facts = { inner: Object.assign(new Error('broken'), facts) };
      }
      log.info(facts, 'a line');
      assert.equal(lines.length, 1);
      assert.doesNotMatch(lines[0] as string, /hunter2/);
    }),
  );
});

test('facts that are no secrets are logged as they are', () => {
  const { log, last } = capture();
  const facts = { job: 7, key: 'ssd', tags: ['a'], at: { host: 'x', port: 1 }, since: '2026-01-01' };
  log.warn({ ...facts, when: new Date(0) }, 'a line');
  const { level, service, msg, ...logged } = last();
  delete logged['time'];
  assert.deepEqual([level, service, msg], [40, 'test', 'a line']);
  assert.deepEqual(logged, { ...facts, when: '1970-01-01T00:00:00.000Z' });
});

test('an error is logged with its kind, its causes and where it came from', () => {
  const { log, last } = capture();
  const error = new TypeError('outer', { cause: new RangeError('inner') });
  log.error({ error: Object.assign(error, { code: 'E_TEST' }) }, 'a line');
  const logged = last()['error'] as Record<string, string>;
  assert.deepEqual([logged['type'], logged['message'], logged['code']], ['TypeError', 'outer: inner', 'E_TEST']);
  assert.match(logged['stack'] ?? '', /log\.test\.ts[\s\S]*caused by: RangeError: inner/);
  log.error(error);
  assert.deepEqual(last()['error'], logged);
});

test('what is nested without end is cut off', () => {
  const { log, lines } = capture();
  const endless: Record<string, unknown> = {};
  endless['self'] = endless;
  log.info(endless, 'a line');
  assert.match(lines[0] as string, /\[deep\]/);
});

test('the level is switched while the service runs', () => {
  const { log, lines } = capture();
  log.debug('unheard');
  log.level = 'debug';
  log.debug('heard');
  log.level = 'info';
  log.debug('unheard again');
  assert.equal(lines.length, 1);
  assert.match(lines[0] as string, /"heard"/);
});

/** A log on a disk that fails as the test says, with room for so many bytes. */
function onDisk() {
  const disk = { text: '', room: Infinity, code: 'ENOSPC', busy: 0 };
  const lines = new LogLines(7, (_, bytes) => {
    if (disk.busy > 0) disk.busy -= 1;
    else if (disk.room > 0) {
      const taken = bytes.subarray(0, disk.room);
      disk.room -= taken.length;
      disk.text += taken.toString();
      return taken.length;
    }
    throw Object.assign(new Error('no'), { code: disk.room > 0 ? 'EAGAIN' : disk.code });
  });
  return { disk, log: createLog('test', 'info', lines) };
}

test('lines that a full or broken disk does not take are lost, and the next ones are written when it does', () => {
  for (const code of ['ENOSPC', 'EIO', 'EPIPE']) {
    const { disk, log } = onDisk();
    log.info('before');
    Object.assign(disk, { room: 10, code });
    log.info('cut off');
    log.fatal('lost');
    disk.room = Infinity;
    log.info('after');
    log.info('later');
    const lines = disk.text.split('\n').filter((line) => line.endsWith('}'));
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { msg: string }).msg),
      ['before', 'after', 'later'],
    );
    assert.doesNotMatch(disk.text, /\n\n/);
  }
});

test('a reader that is slow is waited for, one that has stopped reading is not', () => {
  const { disk, log } = onDisk();
  disk.busy = 3;
  log.info('in the end');
  assert.match(disk.text, /in the end/);
  disk.busy = 201;
  log.info('in vain');
  log.info('in vain, too');
  log.info('read again');
  assert.doesNotMatch(disk.text, /in vain/);
  assert.match(disk.text, /read again/);
});
