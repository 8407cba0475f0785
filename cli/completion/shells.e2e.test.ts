import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { printed, skipWithoutProgram, type Surroundings } from '../../e2e/programs.ts';
import { temporaryFolder } from '../../testing/folders.ts';
import { until } from '../../testing/waiting.ts';
import { fakePortal } from '../testing/portal.ts';

/**
 * Goal: what `granary completion` prints completes in the shells themselves.
 * Method: the shell runs at a terminal that `script` makes, is typed at, and prints the words that it would have run.
 */
const BIN = join(import.meta.dirname, '../bin/granary.js');
const skip = {
  bash: (await skipWithoutProgram('script', 'bsdutils')) || (await skipWithoutProgram('bash', 'bash')),
  zsh: (await skipWithoutProgram('script', 'bsdutils')) || (await skipWithoutProgram('zsh', 'zsh')),
  fish: await skipWithoutProgram('fish', 'fish'),
};

const users = {
  status: 'success',
  data: [
    { id: 1, username: 'admin' },
    { id: 3, username: 'ann the second' },
    { id: 4, username: '$(echo run)' },
  ],
};

/** Its own home, and the command as it is installed. */
async function surroundings(t: TestContext): Promise<Surroundings> {
  const cwd = temporaryFolder(t);
  const { url } = await fakePortal(t, { 'GET /users': users });
  const bin = join(cwd, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'granary'), `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`);
  chmodSync(join(bin, 'granary'), 0o755);
  writeFileSync(join(cwd, 'some-file'), '');
  const PATH = `${bin}:${process.env['PATH']}`;
  const env = { PATH, HOME: cwd, TERM: 'dumb', LANG: 'C.UTF-8', GRANARY_URL: url, GRANARY_TOKEN: 'tok', ENV: '' };
  return { cwd, env };
}

/** What is typed before a tab, and the words after it. */
const completed: readonly (readonly [typed: string, words: string])[] = [
  ['granary array-req', '<array-requests>'],
  ['granary users dele', '<users><delete>'],
  ['granary users delete ad', '<users><delete><admin>'],
  ['granary users delete ann', '<users><delete><ann the second>'],
  [String.raw`granary users delete ann\ t`, '<users><delete><ann the second>'],
  ['granary users delete "ann t', '<users><delete><ann the second>'],
  [String.raw`granary users delete \$`, '<users><delete><$(echo run)>'],
  ['granary arrays create --kind ob', '<arrays><create><--kind><object_storage>'],
  ['granary arrays list --output=ya', '<arrays><list><--output=yaml>'],
  ['granary arrays list --out', '<arrays><list><--output>'],
  ['granary arrays upload some-f', '<arrays><upload><some-file>'],
];

/** The shell asks the command; what it would run it prints. */
const SHOWN = `granary() { if [ "$1" = __complete ]; then command granary "$@"; else printf '<%s>' "$@"; echo; fi; }\ngranary ready\n`;

for (const [shell, start] of [
  ['bash', 'bash --norc --noprofile -i'],
  ['zsh', 'zsh -f -i'],
] as const) {
  test(`${shell} completes commands, options and names from the server`, { skip: skip[shell] }, async (t) => {
    const { cwd, env } = await surroundings(t);
    const lines = [`source <(granary completion ${shell})\n${SHOWN}`, ...completed.map(([typed]) => `${typed}\t\n`)];
    const output = await typedAt(t, start, lines, { cwd, env });
    const ran = output.split(/\r?\n/).filter((line) => /^(<[^<>]*>)+$/.test(line));
    assert.deepEqual(ran, ['<ready>', ...completed.map(([, words]) => words)], output);
  });
}

test('fish completes commands, options and names from the server', { skip: skip.fish }, async (t) => {
  const around = await surroundings(t);
  const offered = async (typed: string) => {
    const command = `granary completion fish | source; complete -C ${quoted(typed)}`;
    return (await printed('fish', ['--no-config', '-c', command], around)).trim().split('\n');
  };
  assert.deepEqual(await offered('granary array-req'), ['array-requests']);
  assert.deepEqual(await offered('granary users delete a'), ['admin', 'ann the second']);
  assert.deepEqual(await offered(String.raw`granary users delete ann\ t`), ['ann the second']);
  assert.deepEqual(await offered('granary users delete "ann t'), ['ann the second']);
  assert.deepEqual(await offered('granary arrays create --kind '), ['object_storage', 'storage_array']);
  assert.deepEqual(await offered('granary arrays list --output=ya'), ['--output=yaml']);
  assert.deepEqual(await offered('granary arrays list --out'), ['--output']);
  assert.deepEqual(await offered('granary arrays upload some-f'), ['some-file']);
});

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;
}

/** Types at a shell that runs at a terminal of its own, each line when the one before has run; resolves with all it showed. */
async function typedAt(
  t: TestContext,
  shell: string,
  lines: readonly string[],
  { cwd, env }: Surroundings,
): Promise<string> {
  const child = spawn('script', ['--quiet', '--command', shell, '/dev/null'], { cwd, env, stdio: 'pipe' });
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  for (const [index, line] of lines.entries()) {
    child.stdin.write(line);
    const ran = () => (output.match(/^<.*>\r?$/gm)?.length ?? 0) > index;
    await until(ran, `${shell} has run ${line}`).catch(() => assert.fail(`${shell} did not run ${line}: ${output}`));
  }
  child.stdin.end('exit\n');
  await once(child, 'close');
  return output;
}
