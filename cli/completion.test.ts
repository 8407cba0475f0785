import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { completionScripts } from './completion/scripts.ts';
import { fakePortal, runCommand } from './testing/portal.ts';

const users = {
  status: 'success',
  data: [
    { id: 1, username: 'admin' },
    { id: 3, username: 'ann' },
    { id: 4, username: 'bob' },
  ],
};

test('commands, options and values are completed', async () => {
  const complete = async (...words: string[]) =>
    (await runCommand(['__complete', '--', ...words], {})).out.split('\n').filter(Boolean);
  assert.deepEqual(await complete('arr'), ['arrays', 'array-requests', 'array']);
  assert.deepEqual(await complete('array', 'vol'), ['volumes', 'volume-tags']);
  assert.ok((await complete('array', 'volumes', '')).includes('create'));
  assert.deepEqual(await complete('arrays', 'create', '--pro'), ['--provider']);
  assert.deepEqual(await complete('arrays', 'create', '--kind', ''), ['storage_array', 'object_storage']);
  assert.deepEqual(await complete('arrays', 'list', '--output', 'c'), ['csv']);
  assert.deepEqual(await complete('array', 'volumes', 'list', '--columns', 'att'), ['attached-to']);
  assert.deepEqual(await complete('array', 'volumes', 'list', '--field', 'virtual'), ['virtual_capacity']);
  assert.deepEqual(await complete('completion', 'nothing', 'more'), []);
  const help = (await runCommand(['--help'], {})).out;
  assert.doesNotMatch(help, /__complete/);
});

test('names come from the server; without one there are none, and no error', async (t) => {
  const portal = await fakePortal(t, {
    'GET /users': users,
    'GET /clouds': { status: 'success', data: [{ id: '2', name: 'here' }] },
  });
  const complete = async (...words: string[]) => {
    const { code, out, err } = await portal.run(['__complete', '--', ...words]);
    assert.deepEqual([code, err], [0, '']);
    return out.split('\n').filter(Boolean);
  };
  assert.deepEqual(await complete('users', 'delete', 'a'), ['admin', 'ann']);
  assert.deepEqual(await complete('drive-types', 'list', ''), ['here']);
  assert.deepEqual(await complete('providers', 'get', ''), [], 'a list that is refused');
  const nowhere = await runCommand(['__complete', '--', 'users', 'delete', '', '--url', 'http://127.0.0.1:1'], {});
  assert.deepEqual([nowhere.code, nowhere.out, nowhere.err], [0, '', '']);
});

test('there is a script for each shell, and bash takes names as they are', () => {
  assert.deepEqual(Object.keys(completionScripts), ['bash', 'zsh', 'fish']);
  // A name must never run as a command.
  const script = `granary() { printf '%s\\n' 'my volume' '$(exit 7)'; }
complete() { :; }
${completionScripts.bash}
COMP_WORDS=(granary array ''); COMP_CWORD=2; _granary; printf '%s|' "\${COMPREPLY[@]}"`;
  const { status, stdout } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  assert.deepEqual([status, stdout], [0, 'my\\ volume|\\$\\(exit\\ 7\\)|']);
});

test('a shell that is not known is refused', async () => {
  assert.equal((await runCommand(['completion', 'tcsh'], {})).code, 2);
  assert.match((await runCommand(['completion', 'bash'], {})).out, /complete -o default -F _granary granary\n$/);
});
