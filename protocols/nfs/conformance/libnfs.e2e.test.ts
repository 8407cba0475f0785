import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Random } from '../../../testing/random.ts';
import { skipWithout } from '../../iscsi/testing/packages.ts';
import { serve } from '../testing/serve.ts';

const run = promisify(execFile);
const OPTIONS = { timeout: 600_000, maxBuffer: 64 * 1024 * 1024, encoding: 'buffer' } as const;
const skip = await skipWithout('libnfs-utils');
/** libnfs 4.0.0, which Debian has, cannot encode a larger WRITE of version 4 (its pull request 319). */
const V4_WRITE_BYTES_MAX = 3800;

for (const version of [3, 4]) {
  test(`libnfs lists, copies and reads by version ${version}`, { skip, timeout: 600_000 }, async (context) => {
    const { port, client3, events } = await serve(context);
    const folder = mkdtempSync(join(tmpdir(), 'granary-libnfs-'));
    context.after(() => rmSync(folder, { recursive: true, force: true }));
    const url = (path: string) => `nfs://127.0.0.1/share${path}?nfsport=${port}&mountport=${port}&version=${version}`;
    const random = new Random(version);
    const bytes = (length: number) => Buffer.from(Array.from({ length }, () => random.below(256)));
    const client = await client3();
    const { handle } = await client.mkdir(client.root, 'folder');
    const sizes = version === 3 ? [0, 1, 5000, 700_001] : [0, 1, V4_WRITE_BYTES_MAX];
    for (const size of sizes) {
      const source = join(folder, `file-${size}`);
      writeFileSync(source, bytes(size));
      await run('nfs-cp', [source, url(`/folder/file-${size}`)], OPTIONS);
      const { stdout } = await run('nfs-cat', [url(`/folder/file-${size}`)], OPTIONS);
      assert.ok(stdout.equals(readFileSync(source)), `${size} bytes`);
    }
    // What version 4 of libnfs cannot write, it can read.
    const large = bytes(300_000);
    const file = await client.create(client.root, 'large', { mode: 0o644 });
    await client.write(file.handle, 0, large);
    assert.ok((await run('nfs-cat', [url('/large')], OPTIONS)).stdout.equals(large));
    for (let index = 0; index < 500; index++) await client.create(handle, `empty-${index}`, { mode: 0o600 });
    const { stdout } = await run('nfs-ls', [url('/folder')], OPTIONS);
    const listed = stdout.toString().trim().split('\n');
    assert.equal(listed.length, 500 + sizes.length);
    assert.ok(listed.some((line) => /\s1 file-1$/.test(line)));
    assert.deepEqual(
      events.filter(({ type }) => type === 'internal-error'),
      [],
    );
  });
}
