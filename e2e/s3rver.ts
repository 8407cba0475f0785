import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../testing/waiting.ts';
import { definedOf } from './aws-sdk.ts';
import { freePort } from './granary.ts';
import { ended } from './programs.ts';

/** Kept between runs. */
const FOLDER = join(tmpdir(), 'granary-s3rver');
const VERSION = '3.7.1';
const PROGRAM = join(FOLDER, 'node_modules/s3rver/bin/s3rver.js');
const OBJECT = '._S3rver_object';
/** It knows these and no others. */
export const S3RVER_KEYS = { access: 'S3RVER', secret: 'S3RVER' };

/** The reason to skip what needs an S3 server that is not ours, or `false`: it is installed from npm where that is possible. */
export async function skipWithoutS3rver(): Promise<string | false> {
  if (existsSync(PROGRAM)) return false;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'package.json'), '{ "private": true }');
  const around = { cwd: FOLDER, env: definedOf(process.env) };
  await ended('npm', ['install', '--no-audit', '--no-fund', `s3rver@${VERSION}`], around);
  return existsSync(PROGRAM) ? false : `s3rver ${VERSION} could not be installed from npm`;
}

/** By what is on its disk: it answers with an error to who lists more than one page. */
export function keysOfS3rver(folder: string, bucket: string): string[] {
  const files = readdirSync(join(folder, bucket), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith(OBJECT)).map((file) => file.slice(0, -OBJECT.length));
}

/** Serves one bucket from the folder until the test ends; its address. */
export async function startS3rver(
  t: { after(action: () => Promise<void>): void },
  folder: string,
  bucket: string,
): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const args = ['-d', folder, '-a', '127.0.0.1', '-p', String(port), '--silent', '--configure-bucket', bucket];
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: 'ignore' });
  t.after(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const url = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(url).catch(() => undefined))?.ok, 's3rver answers');
  return url;
}
