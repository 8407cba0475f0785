import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { arrayApi } from './array/index.ts';
import { commandLine, curlLine } from './command-line.ts';
import type { Operation } from './endpoint.ts';
import { portalApi } from './portal/index.ts';

const createVolume: Operation = {
  id: 'volumes.create',
  group: 'volumes',
  name: 'create',
  endpoint: arrayApi.groups.volumes.create,
};
const order: Operation = {
  id: 'arrays.create',
  group: 'arrays',
  name: 'create',
  endpoint: portalApi.groups.arrays.create,
};
const getArray: Operation = { id: 'arrays.get', group: 'arrays', name: 'get', endpoint: portalApi.groups.arrays.get };
const createUser: Operation = {
  id: 'users.create',
  group: 'users',
  name: 'create',
  endpoint: portalApi.groups.users.create,
};

test('a call is shown as the line one would type', () => {
  assert.equal(
    commandLine(
      createVolume,
      { name: "Ann's books", capacity: '5G', block: 'YES' },
      { prefix: 'array', array: 'tank' },
    ),
    "granary array volumes create --name 'Ann'\\''s books' --capacity 5G --block YES --array tank",
  );
  assert.equal(
    commandLine(order, { name: 'tank', drives: { SSD_10GB: 2 }, moderate: false }),
    'granary arrays create --name tank --drives SSD_10GB=2 --no-moderate',
  );
  assert.equal(commandLine(getArray, { array_id: 7 }), 'granary arrays get 7');
});

test('no line shows a secret', () => {
  const input = { username: 'ann', password: 'correct horse' };
  assert.equal(commandLine(createUser, input), 'granary users create --username ann --password -');
  assert.doesNotMatch(curlLine(createUser, input, { url: 'http://h', header: 'X-Token: $TOKEN' }), /correct horse/);
});

test('curl gets the parameters where the method has them', () => {
  const place = { url: 'http://h:1', header: 'X-Token: $TOKEN' };
  assert.equal(
    curlLine(order, { name: 'tank' }, place),
    `curl -s -H "X-Token: $TOKEN" -X POST -H 'Content-Type: application/json' -d '{"name":"tank"}' http://h:1/api/arrays`,
  );
  assert.equal(
    curlLine({ ...getArray, endpoint: portalApi.groups.arrays.list }, { name: 'a b' }, place),
    `curl -s -H "X-Token: $TOKEN" 'http://h:1/api/arrays?name=a%20b'`,
  );
});

/** What a shell takes apart, runs or replaces where it is not quoted, and what reads as an option or as a form of curl. */
const AWKWARD = [
  "it's",
  'say "hello"',
  '$(touch /tmp/executed)',
  '`touch /tmp/executed`',
  '$HOME ${HOME} $$',
  'a; touch /tmp/executed & wait | cat > /dev/null',
  'two\nlines\r\tand a tab',
  "\\ and \\' and \\n",
  ' leading and trailing ',
  '',
  '*?[a-z]{a,b}~',
  '!! #comment',
  '--yes',
  '-rf',
  '@/etc/passwd',
  '<img src=x onerror=alert(1)>',
  'größer 漢字 🗄',
];

/** The words that a shell makes of the line: every program is a function that prints its arguments. */
function wordsOf(line: string): string[] {
  const print = `p() { for word in "$@"; do printf '%s\\0' "$word"; done; }; granary() { p granary "$@"; }; curl() { p curl "$@"; }`;
  const output = execFileSync('sh', ['-c', `${print}\n${line}`], { encoding: 'utf8', env: { TOKEN: 'token' } });
  return output.split('\0').slice(0, -1);
}

test('a shell takes every value of a granary line as it was given', () => {
  for (const text of AWKWARD) {
    const line = commandLine(createVolume, { name: text, capacity: '5G' }, { prefix: 'array', array: text });
    const expected = ['granary', 'array', 'volumes', 'create', `--name=${text}`, '--capacity=5G', `--array=${text}`];
    const words = wordsOf(line).join('\0');
    const given = words.replaceAll(/(--(?:name|capacity|array))\0/g, '$1=');
    assert.equal(given, expected.join('\0'), line);
  }
});

test('a value that begins with a dash is no option of a granary line', () => {
  assert.equal(
    commandLine(createVolume, { name: '--yes', capacity: '-1' }, { prefix: 'array', array: '-7' }),
    'granary array volumes create --name=--yes --capacity=-1 --array=-7',
  );
  assert.equal(commandLine(getArray, { array_id: '-7' }), 'granary arrays get -- -7');
  const rename: Operation = {
    id: 'volumes.rename',
    group: 'volumes',
    name: 'rename',
    endpoint: arrayApi.groups.volumes.rename,
  };
  assert.equal(
    commandLine(rename, { id: '-v', new_name: 'books' }, { prefix: 'array', array: 'tank' }),
    'granary array volumes rename --new-name books --array tank -- -v',
  );
});

test('a shell takes the body and the address of a curl line as they were given', () => {
  for (const text of AWKWARD) {
    const place = { url: 'http://h:1', header: 'X-Token: $TOKEN' };
    const posted = wordsOf(curlLine(order, { name: text }, place));
    assert.deepEqual(JSON.parse(posted[posted.indexOf('-d') + 1] ?? ''), { name: text });
    assert.equal(posted.at(-1), 'http://h:1/api/arrays');
    const asked = wordsOf(curlLine({ ...getArray, endpoint: portalApi.groups.arrays.list }, { name: text }, place));
    assert.equal(new URL(asked.at(-1) ?? '').searchParams.get('name'), text);
    assert.deepEqual(asked.slice(0, 4), ['curl', '-s', '-H', 'X-Token: token']);
  }
});
