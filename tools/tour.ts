import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ownAddresses, startGranary } from '../e2e/granary.ts';

/**
 * Tours in the documentation are run, not written: each `$ command` between the tour's marks is given to one shell
 * beside a fresh Granary, and what it prints stands below it. `npm run docs:tour` writes them anew; the end-to-end test
 * of the tours compares, with whatever differs from run to run masked.
 */
export const touredPages = ['README.md', 'docs/administrators.md'] as const;
/**
 * Written anew as well, but not compared: what is measured differs from run to run, and the clients in them (`aws`,
 * `rclone`, `s3cmd`, `restic`, `swift`, those of libnfs, and `@aws-sdk/client-s3` in the folder `SDK` names) may not be
 * there.
 */
const otherPages = [
  'docs/files.md',
  'docs/object-storage-operators.md',
  'docs/object-storage-accounts.md',
  'docs/object-storage-applications.md',
] as const;
type Page = (typeof touredPages)[number] | (typeof otherPages)[number];

const MARKS = /(<!-- tour -->\n)([\s\S]*?)(<!-- end of tour -->)/;

interface Step {
  readonly command: string;
  readonly output: string;
}

export function readTour(page: Page): Step[] {
  const text = MARKS.exec(readFileSync(fileOf(page), 'utf8'))?.[2] ?? '';
  const blocks = [...text.matchAll(/```console\n([\s\S]*?)```/g)].map((match) => match[1] as string);
  return blocks
    .flatMap((block) => block.split(/^\$ /m).slice(1))
    .map((step) => {
      const [command = '', ...output] = step.split('\n');
      return { command, output: withoutBlankEnds(output.join('\n')) };
    });
}

/** Runs the commands as a new user would, in a folder that looks like a fresh clone that has been started. */
export async function runTour(steps: readonly Step[], addresses = ownAddresses()): Promise<Step[]> {
  const folder = mkdtempSync(join(tmpdir(), 'granary-tour-'));
  const granary = await startGranary(join(folder, 'granary-data'), { env: { GRANARY_ADMIN_PASSWORD: '' }, addresses });
  try {
    const toReader = (text: string) =>
      text
        .replaceAll(granary.url, 'http://127.0.0.1:7400')
        .replace(/127\.(?!0\.)\d+\.\d+\.(\d+)(:|\b)/g, '127.64.0.$1$2')
        // A folder of its own only here: a reader's is at home.
        .replaceAll(join(folder, '.config'), '~/.config')
        .replaceAll(folder, '~/granary')
        .replaceAll(`${process.env['HOME'] ?? '~'}/`, '~/');
    const outputs = await inOneShell(
      folder,
      steps.map(({ command }) => command.replaceAll('http://127.0.0.1:7400', granary.url)),
    );
    return steps.map(({ command }, index) => ({ command, output: withoutBlankEnds(toReader(outputs[index] ?? '')) }));
  } finally {
    await granary.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The first line keeps its indentation: tables of clients stand on it. */
function withoutBlankEnds(text: string): string {
  return text.replace(/^(\s*\n)+/, '').trimEnd();
}

const DONE = '--- end of a step of the tour ---';

async function inOneShell(folder: string, commands: readonly string[]): Promise<string[]> {
  // `npx granary` of a clone is the command in its node_modules.
  const script = ['npx() { "$@"; }', ...commands.flatMap((command) => [command, `echo; echo '${DONE}'`])].join('\n');
  const bin = resolve(import.meta.dirname, '../node_modules/.bin');
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}`, XDG_CONFIG_HOME: join(folder, '.config') };
  const shell = spawn('bash', ['-c', `exec 2>&1\n${script}`], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  shell.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await new Promise((done) => shell.on('close', done));
  return text.split(DONE);
}

/** What is the same in every run: secrets, times, sizes and identifiers are masked. */
export function masked(output: string): string {
  return (
    output
      .split('\n')
      // How often the progress of work is seen depends on how fast it is.
      .filter((line) => !/^(Array|Drive|Pool|RaidGroup|Volume|ConsistencyGroup) \S+: (?!done$)/.test(line))
      .join('\n')
      // Said only where the work takes longer than a call waits, which is up to the machine.
      .replace(/^The request has been submitted\.\n/gm, '')
      .replace(/\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2}(\.\d{3})?)?/g, '<time>')
      .replace(/\d{4}-\d{2}-\d{2}/g, '<date>')
      .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b/g, '<uuid>')
      .replace(/(?<![\w-])[\w-]{27}(?![\w-])/g, '<secret>')
      .replace(/(passcode\W+)[A-Za-z0-9_-]{12}/g, '$1<secret>')
      .replace(/\b\d+\.\d{6,}\b/g, '<number>')
      .replace(/\d+ bytes/g, '<size>')
      .replace(/ +/g, ' ')
      .replace(/[─]+/g, '─')
  );
}

function fileOf(page: Page): string {
  return resolve(import.meta.dirname, '..', page);
}

async function writeTour(page: Page): Promise<void> {
  // The addresses a reader will see; the test keeps to its own.
  const steps = await runTour(readTour(page), '127.64.0.0/16');
  const queue = [...steps];
  const text = readFileSync(fileOf(page), 'utf8').replace(MARKS, (_, open: string, body: string, close: string) => {
    const written = body.replace(/```console\n[\s\S]*?```/g, (block) => {
      const count = block.match(/^\$ /gm)?.length ?? 0;
      const lines = queue
        .splice(0, count)
        .map(({ command, output }) => `$ ${command}\n${output}${output === '' ? '' : '\n'}`);
      return `\`\`\`console\n${lines.join('')}\`\`\``;
    });
    return open + written + close;
  });
  writeFileSync(fileOf(page), text);
}

/** All pages, or those that are named. */
if (import.meta.main) {
  const named = process.argv.slice(2);
  for (const page of [...touredPages, ...otherPages])
    if (named.length === 0 || named.includes(page)) await writeTour(page);
}
