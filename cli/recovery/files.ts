import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, createReadStream, cpSync, fsyncSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** What a backup leaves out: logs, what belongs to an open database, what a start makes anew. */
const LEFT_OUT = [
  /(^|\/)(granary|array)\.log(\.\d+)?$/,
  /\.sock$/,
  /-(wal|shm|journal|reserve)$/,
  /\.(mark|new|unfinished|restoring)$/,
  /\.damaged-[^/]*$/,
  /(^|\/)copies\//,
  /^cloud\/nodes\//,
];
const SECRET = /(\.key|key\.pem|admin-password)$/;

export function isSecret(path: string): boolean {
  return SECRET.test(path);
}

export function isDatabase(path: string): boolean {
  return path.endsWith('.db');
}

/** Files below a folder that a backup has, relative to it, in order. */
export function listFiles(folder: string): string[] {
  return walk(folder, '').filter((path) => !LEFT_OUT.some((pattern) => pattern.test(path)));
}

function walk(folder: string, below: string): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) return LEFT_OUT.some((pattern) => pattern.test(`${path}/`)) ? [] : walk(folder, path);
      return entry.isFile() ? [path] : [];
    });
}

export async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** Drives are sparse: holes are not copied, and blocks are shared where the file system can. */
export async function copyDrive(from: string, to: string): Promise<void> {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  const child = spawn('cp', ['-a', '--sparse=always', '--reflink=auto', '--', from, to], { stdio: 'ignore' });
  const code = await new Promise<number | null>((settle) => {
    child.once('error', () => settle(null));
    child.once('exit', settle);
  });
  // Where there is no such command, the bytes are copied as they are.
  if (code !== 0) cpSync(from, to, { recursive: true, force: true });
}

/** Everything below a folder is on disk, names included. */
export function syncTree(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) syncTree(path);
    else if (entry.isFile()) syncOne(path);
  }
  syncOne(folder);
}

export function syncOne(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
