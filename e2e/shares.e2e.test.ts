import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { skipWithout } from '@granary/protocols/iscsi/testing';
import { temporaryFolder } from '../testing/folders.ts';
import { TestArrayProcess, arrayConfiguration } from '../array/testing/array-process.ts';
import { makePool } from './block-array.ts';
import { printed } from './programs.ts';

const skip = await skipWithout('libnfs-utils');
/** libnfs 4.0.0, which Debian has, cannot encode a larger WRITE of version 4. */
const V4_WRITE_BYTES_MAX = 3800;

test(
  'an administrator makes a share; people fill it by versions 3 and 4, look back, and lose nothing',
  { skip },
  async (t) => {
    const folder = temporaryFolder(t);
    const configuration = arrayConfiguration(folder, 2, 1);
    let array = await TestArrayProcess.start(configuration);
    t.after(() => array.kill());
    const around = { cwd: folder, env: {} };
    const run = (program: string, ...args: string[]) => printed(program, args, around);
    const newFile = (name: string, bytes: number) => {
      writeFileSync(
        join(folder, name),
        randomBytes(Math.ceil(bytes / 2))
          .toString('hex')
          .slice(0, bytes),
      );
      return name;
    };

    t.diagnostic('a share is made in a pool, and a server attached by its address');
    const { pool } = await makePool(array.client, 'main');
    const { vol_name: id } = await array.client.volumes.create({ name: 'docs', capacity: 64, pool, block: false });
    const { server_name: server } = await array.client.servers.create({ display_name: 'web', iscsi: '127.0.0.0/8' });
    await array.client.servers.attachVolumes({ id: [server], volume_name: [id], access_type: 'NFS' });
    const { nfs_export_path: path, cg_name } = (await array.client.volumes.get({ id })).volume;
    const [host, place] = path?.split(':') ?? [];
    const ports = 'nfsport=2049&mountport=2049';
    const url = (name: string, version: number) => `nfs://${host}${place}/${name}?version=${version}&${ports}`;

    t.diagnostic('files are copied there by both versions, and read by the other one');
    const files = [newFile('empty', 0), newFile('small', V4_WRITE_BYTES_MAX), newFile('large', 3_000_000)] as const;
    await run('nfs-cp', files[0], url('empty', 4));
    await run('nfs-cp', files[1], url('small', 4));
    await run('nfs-cp', files[2], url('large', 3));
    const readAll = async (version: number, below = '') =>
      Promise.all(files.map((name) => run('nfs-cat', url(`${below}${name}`, version))));
    const written = await Promise.all(files.map((name) => run('cat', name)));
    for (const version of [3, 4]) assert.deepEqual(await readAll(version), written, `version ${version}`);
    assert.deepEqual((await run('nfs-ls', url('', 3))).match(/\S+$/gm)?.sort(), ['empty', 'large', 'small']);

    t.diagnostic('a snapshot shows what was there when it was taken, and nothing that came later');
    await array.client.snapshots.create({ volume_cg_id: cg_name, display_name: 'before-lunch' });
    await run('nfs-cp', newFile('later', 2_000), url('later', 4));
    assert.deepEqual(await readAll(4, '.snapshot/before-lunch/'), written);
    await assert.rejects(run('nfs-cat', url('.snapshot/before-lunch/later', 4)), /NOENT/);

    t.diagnostic('after kill -9 everything that was answered is there');
    await array.kill();
    array = await TestArrayProcess.start(configuration);
    assert.equal(await run('nfs-cat', url('later', 3)), await run('cat', 'later'));
    assert.deepEqual(await readAll(3), written);
    assert.deepEqual(await readAll(3, '.snapshot/before-lunch/'), written);

    t.diagnostic('it grows while it is used, and is gone when it is deleted');
    const before = (await array.client.volumes.get({ id })).volume;
    await array.client.volumes.expand({ id, capacity: 64 });
    const after = (await array.client.volumes.get({ id })).volume;
    assert.ok(after.available_capacity > before.available_capacity + 0.05, JSON.stringify(after));
    assert.equal(after.num_of_filesystem_objects, 5);
    await array.client.volumes.detach({ id, servers: [server] });
    await assert.rejects(run('nfs-ls', url('', 3)));
    await array.client.volumes.delete({ id, force: true, timeout: -1 });
    assert.equal((await array.client.volumes.list({ showonlyfile: true })).count, 0);
  },
);
