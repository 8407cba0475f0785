import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readTar } from './tar.ts';

async function* inPieces(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function files(bytes: Buffer, size = 700): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const file of readTar(inPieces(bytes, size))) {
    const pieces: Uint8Array[] = [];
    for await (const piece of file.bytes()) pieces.push(piece);
    if (file.name.length > 0) found[file.name.toString()] = Buffer.concat(pieces).toString();
  }
  return found;
}

function archive(format: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'tar-'));
  try {
    const long = 'deep/'.repeat(30);
    mkdirSync(join(folder, long), { recursive: true });
    writeFileSync(join(folder, 'a.txt'), 'first');
    writeFileSync(join(folder, 'empty'), '');
    writeFileSync(join(folder, long, 'ü.txt'), 'x'.repeat(1500));
    return execFileSync('tar', ['-c', `--format=${format}`, '-C', folder, '.']);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('archives of GNU tar and pax are read, long names included', async () => {
  const expected = { './a.txt': 'first', './empty': '', [`./${'deep/'.repeat(30)}ü.txt`]: 'x'.repeat(1500) };
  for (const format of ['gnu', 'pax', 'posix']) {
    const bytes = archive(format);
    for (const size of [1, 512, 700, 65536]) assert.deepEqual(await files(bytes, size), expected, format);
  }
});

test('what is no archive, or is cut off, is reported', async () => {
  await assert.rejects(files(Buffer.from('x'.repeat(2000))), { name: 'TarError' });
  await assert.rejects(files(Buffer.from('short')), { name: 'TarError' });
  const bytes = archive('gnu');
  const at = bytes.indexOf('xxxxxxxx');
  await assert.rejects(files(bytes.subarray(0, at + 100)), { name: 'TarError' });
  assert.deepEqual(await files(Buffer.alloc(1024)), {});
});
