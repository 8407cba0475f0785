import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { checkArray } from '@granary/array';
import { skipWithout } from '@granary/protocols/iscsi/testing';
import { temporaryFolder } from '../testing/folders.ts';
import { TestArrayProcess, arrayConfiguration } from '../array/testing/array-process.ts';
import { makePool } from './block-array.ts';
import { generateTree, ShareFiles, type Tree } from './share-tree.ts';

const run = promisify(execFile);
const OUTPUT = { maxBuffer: 256 * 1024 * 1024, encoding: 'buffer' } as const;
const FILES = process.env['GRANARY_TORTURE'] === '1' ? 20_000 : 500;
const SHARE = '/export/files';
/** Of the files, so many are read by libnfs; one process each. */
const SAMPLES = 3;
const noLibnfs = await skipWithout('libnfs-utils');

test(`a tree of ${FILES} files is its source for libnfs, after a kill, and in .snapshot`, async (t) => {
  const folder = temporaryFolder(t);
  const configuration = arrayConfiguration(folder, 2, 2);
  const { management, filePort } = configuration;
  let array = await TestArrayProcess.start(configuration);
  t.after(() => array.kill());
  const { client } = array;
  const { pool } = await makePool(client, 'main');
  const { vol_name: share } = await client.volumes.create({ name: 'files', capacity: 1024, pool, block: false });
  const { server_name: server } = await client.servers.create({ display_name: 'libnfs', iscsi: '127.0.0.0/8' });
  await client.servers.attachVolumes({ id: [server], volume_name: [share], access_type: 'NFS' });

  const libnfs = new Libnfs(management.host, filePort);
  const mounted = async <T>(path: string, work: (files: ShareFiles) => Promise<T>): Promise<T> => {
    const files = await ShareFiles.mount(management.host, filePort, path);
    return work(files).finally(() => files.close());
  };
  const compare = async (path: string, wanted: Tree, readBy = [3, 4]) => {
    assertSame(await mounted(path, (files) => files.read()), wanted);
    if (noLibnfs === false) await libnfs.compare(path, wanted, readBy);
    else t.diagnostic(`only our own client has looked: ${noLibnfs}`);
  };

  const tree = generateTree(FILES, 'first');
  await mounted(SHARE, (files) => files.write(tree));
  if (noLibnfs === false) for (const version of [3, 4]) await libnfs.copy(folder, version, SHARE, tree);
  await compare(SHARE, tree);
  const { volume } = await client.volumes.get({ id: share });
  await client.snapshots.create({ volume_cg_id: volume.cg_name, display_name: 'before' });
  const changed = new Map(tree);
  const some = [...tree.keys()].filter((_, index) => index % 10 === 0);
  const rewritten = new Map(some.map((path) => [path, Buffer.from(`${path} again`)]));
  for (const [path, content] of rewritten) changed.set(path, content);
  const removed = [...tree.keys()].filter((_, index) => index % 10 === 1);
  for (const path of removed) changed.delete(path);
  await mounted(SHARE, async (files) => {
    await files.write(rewritten);
    await files.remove(removed);
  });

  await array.kill();
  array = await TestArrayProcess.start(configuration);
  // NFS 4 opens have to wait for the grace period after the kill, and libnfs does not wait.
  await compare(SHARE, changed, [3]);
  await compare(`${SHARE}/.snapshot/before`, tree, [3]);
  await array.kill();
  assert.deepEqual((await checkArray(configuration)).problems, []);
});

/** The tools of libnfs, which speak versions 3 and 4. */
class Libnfs {
  readonly #host: string;
  readonly #port: number;

  constructor(host: string, port: number) {
    this.#host = host;
    this.#port = port;
  }

  #url(path: string, version: number): string {
    return `nfs://${this.#host}${path}?nfsport=${this.#port}&mountport=${this.#port}&version=${version}`;
  }

  /** Adds a file to the share, and to the tree. */
  async copy(folder: string, version: number, share: string, tree: Tree): Promise<void> {
    const path = `d1/e 1/copied by version ${version}`;
    const content = Buffer.alloc(3000, path);
    writeFileSync(join(folder, 'source'), content);
    await run('nfs-cp', [join(folder, 'source'), this.#url(`${share}/${path}`, version)]);
    tree.set(path, content);
  }

  /** Everything is listed with its size, some is read. */
  async compare(share: string, wanted: Tree, readBy: readonly number[]): Promise<void> {
    const sizes = [...wanted].map(([path, { length }]) => `${length} ${path}`).sort();
    const paths = [...wanted.keys()];
    for (const version of [3, 4]) {
      const { stdout } = await run('nfs-ls', ['-R', this.#url(share, version)], OUTPUT);
      const lines = stdout.toString().split('\n');
      const files = lines.flatMap((line) => /^-\S+\s+\d+\s+\d+\s+\d+\s+(\d+ .+)$/.exec(line)?.[1] ?? []);
      assert.deepEqual(files.sort(), sizes);
    }
    for (const version of readBy) {
      for (let sample = 0; sample < SAMPLES; sample += 1) {
        const path = paths[Math.floor(((sample + 0.5) * paths.length) / SAMPLES)]!;
        const read = await run('nfs-cat', [this.#url(`${share}/${path}`, version)], OUTPUT);
        assert.ok(read.stdout.equals(wanted.get(path)!), path);
      }
    }
  }
}

function assertSame(found: Tree, wanted: Tree): void {
  assert.deepEqual([...found.keys()].sort(), [...wanted.keys()].sort());
  for (const [path, content] of wanted) assert.ok(found.get(path)!.equals(content), path);
}
