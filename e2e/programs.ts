import { execFile, type ExecFileException } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensurePackages } from '@granary/protocols/iscsi/testing';

const RUN_MS_MAX = 600_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** How a program ended: tests look at the failures of real clients too. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Surroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Runs a program to its end, with nothing of our own surroundings but where programs are found. */
export function ended(program: string, args: readonly string[], { cwd, env }: Surroundings): Promise<Ended> {
  const own = { PATH: process.env['PATH'] ?? '', HOME: cwd, LANG: 'C.UTF-8', ...env };
  const options = { cwd, env: own, timeout: RUN_MS_MAX, maxBuffer: OUTPUT_BYTES_MAX };
  return new Promise((resolve) => {
    execFile(program, args, options, (error: ExecFileException | null, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code) || 1, stdout, stderr });
    });
  });
}

/** What the program printed; an error with what it complained of, if it failed. */
export async function printed(program: string, args: readonly string[], around: Surroundings): Promise<string> {
  const { code, stdout, stderr } = await ended(program, args, around);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
  return stdout;
}

/** The reason to skip what needs a program, or `false`: its Debian package is installed where it can be. */
export async function skipWithoutProgram(program: string, packageName: string): Promise<string | false> {
  if (await starts(program)) return false;
  await ensurePackages([packageName]);
  return (await starts(program)) ? false : `${program} is not installed (Debian package ${packageName})`;
}

async function starts(program: string): Promise<boolean> {
  const { code } = await ended('sh', ['-c', `command -v ${program}`], { cwd: '/', env: {} });
  return code === 0;
}

/** Files of a tree with names and sizes of every kind a client meets. */
export function makeTree(folder: string, files: number): void {
  const odd = ['empty', 'naïve file+x.txt', 'percent%20sign', 'deep/er/and/deeper', "quote'and&amp;"];
  const plain = Array.from({ length: files }, (_, index) => `d${index % 100}/f${index}.bin`);
  for (const [index, name] of [...odd, ...plain].entries()) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, randomBytes((index * 37) % 3000));
  }
}

/** Every file below the folder with the hash of its bytes: two trees are the same if these are. */
export function fingerprint(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const hashed = entries.map((entry): [string, string] => {
    const file = join(entry.parentPath, entry.name);
    return [file.slice(folder.length + 1), hashOf(file)];
  });
  return Object.fromEntries(hashed.sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
