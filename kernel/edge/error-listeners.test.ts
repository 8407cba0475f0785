import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

/** What emits `error` some day, and ends the process without a listener. */
const CREATORS =
  /\b(?:(?:net|tls|http|https)\.)?(?:createServer|createTlsServer|createHttpsServer|createConnection|connectTls|fork|spawn|createReadStream|createWriteStream)\(|\bconnect\(\{|\bnew (?:Worker|Socket)\(|\bhttps?\.request\(|\b(?:plainRequest|tlsRequest)\(/;
const LISTENS = /\.(?:on|once)\('error'|\bonce\(\w+, 'exit'\)|pipeline\(|finished\(/;

/** Where the one who listens is in another file. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'cloud/supervision/forking.ts': 'the array process listens',
  'protocols/sockets/receive-buffer.ts': 'the connection listens',
  'kernel/http/http-server.ts': 'the caller that lets it listen',
  'kernel/http/console.ts': 'the server that sends the stream ends its reply',
  'kernel/net/plain-requests.ts': 'the one who sends the request',
  'objects/object-data/service.ts': 'the relay that sends the request',
  'cli/services/ports.ts': 'the wait for listening rejects, and the server is closed',
};

test('whatever can emit an error has a listener in the file that makes it', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const rooms = '{kernel,client,portal,cloud,storage,protocols,array,objects,cli}/**/*.ts';
  const files = globSync(rooms, { cwd: root, exclude: ['**/node_modules/**'] });
  assert.ok(files.length > 500, `${files.length} files`);
  const makers = files
    .filter((file) => !/\.test\.ts$|\/testing\/|\/conformance\/|^kernel\/testing\.ts$/.test(file))
    .filter((file) => CREATORS.test(withoutComments(readFileSync(`${root}/${file}`, 'utf8'))));
  const silent = makers.filter((file) => !LISTENS.test(readFileSync(`${root}/${file}`, 'utf8')));
  assert.deepEqual(
    silent.sort(),
    Object.keys(ELSEWHERE)
      .filter((file) => silent.includes(file))
      .sort(),
  );
  assert.ok(makers.length >= 8, makers.join(', '));
});

function withoutComments(source: string): string {
  return source.replace(/\/\*[^]*?\*\/|\/\/[^\n]*/g, '');
}
