import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { arrayApi } from '@granary/contract/array';
import { testArray } from '../testing/test-array.ts';
import { mountShare, writeFile } from '../testing/test-share.ts';
import { otherS3 } from './testing/other-s3.ts';

const { lifecyclePolicies, objectStorageDestinations, volumes } = arrayApi.groups;
/** Fewer where 100,000 would take too long to make. */
const FILES = Number(process.env['GRANARY_FILES'] ?? 100_000);
const DIRECTORIES = 100;
const AT_ONCE = 256;

/**
 * Goal: a run over many files does exactly what the criteria say, and quickly. Method: 100,000 files of known names are
 * looked through by a dry run, which is timed, then by a policy that archives some and one that expires others.
 */
test(
  'a run over 100,000 files does what the criteria say, and a dry run nothing',
  { skip: process.env['GRANARY_TORTURE'] !== '1', timeout: 1_800_000 },
  async (t) => {
    const array = await testArray(t, { drives: 2, driveGb: 4 });
    const { client } = array;
    const share = await array.volume(await array.pool(), {
      name: 'many',
      block: 'NO',
      mountsync: 'NO',
      capacity: '2G',
    });
    const mount = await mountShare(t, array, share);
    const folders: Buffer[] = [];
    for (let n = 0; n < DIRECTORIES; n += 1) folders.push((await mount.mkdir(mount.root, `d${n}`)).handle);
    const extensionOf = (n: number) => (n % 100 === 0 ? 'log' : n % 10 === 1 ? 'tmp' : 'txt');
    const numbers = Array.from({ length: FILES }, (_, n) => n)[Symbol.iterator]();
    const work = async () => {
      for (const n of { [Symbol.iterator]: () => numbers }) {
        const [folder, name] = [folders[n % DIRECTORIES] as Buffer, `${n}.${extensionOf(n)}`];
        if (n % 100 === 0) await writeFile(mount, name, Buffer.from(`contents of ${n}`), folder);
        else assert.equal((await mount.create(folder, name)).status, 0);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));

    const { endpoint, username, password, keys } = await otherS3(t);
    const known = { name: 'archive', bucket: 'archive', endpoint, username, password };
    const { object_storage_destination } = await client.call(objectStorageDestinations.create, known);
    const policy = async (display_name: string, extension: string, more: object) => {
      const file_selection_criteria = { $or: [{ extension }, { path: { $glob: `/none/**/*.${extension}` } }] };
      const wanted = { display_name, file_selection_criteria, dry_run: true, ...more };
      const { lc_policy_name: id } = await client.call(lifecyclePolicies.create, wanted as never);
      await client.call(lifecyclePolicies.attach, { id, volume_name: share });
      return id;
    };
    const archive = { lc_action: 'archive', dest_obs_name: object_storage_destination.name };
    const ids = [await policy('logs', 'log', archive), await policy('temporary', 'tmp', { lc_action: 'expire' })];
    const scan = async () => {
      const began = performance.now();
      await client.call(lifecyclePolicies.scan, { volume_name: share });
      while ((await client.call(volumes.get, { id: share })).volume.flc_scan_state !== 'idle') await sleep(20);
      const seconds = (performance.now() - began) / 1_000;
      const { lc_rules } = await client.call(lifecyclePolicies.listRules, { volume_name: share });
      return { seconds, rules: lc_rules };
    };
    const listed = async () => {
      const names = await Promise.all(folders.map((folder) => mount.names(folder, 65_536)));
      return names.reduce((sum, each) => sum + each.length, 0);
    };

    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const dry = await scan();
    delay.disable();
    t.diagnostic(`dry run: ${Math.round(FILES / dry.seconds)} files a second; longest step ${delay.max / 1e6} ms`);
    assert.deepEqual(
      dry.rules.map(({ matched_files, handled_files }) => [matched_files, handled_files]),
      [
        [FILES / 100, 0],
        [FILES / 10, 0],
      ],
    );
    assert.deepEqual([await listed(), (await keys()).length], [FILES, 0]);

    for (const id of ids) await client.call(lifecyclePolicies.update, { id, dry_run: false });
    const real = await scan();
    t.diagnostic(`archived ${FILES / 100} and expired ${FILES / 10} files in ${real.seconds.toFixed(1)} s`);
    assert.deepEqual(
      real.rules.map((rule) => [rule.matched_files, rule.handled_files, rule.failed_files, rule.changed_files]),
      [
        [FILES / 100, FILES / 100, 0, 0],
        [FILES / 10, FILES / 10, 0, 0],
      ],
    );
    assert.deepEqual([await listed(), (await keys()).length], [FILES - FILES / 10, FILES / 100]);
    for (let n = 0; n < FILES; n += 100 * Math.ceil(FILES / 2_000)) {
      const { handle } = await mount.lookup(folders[n % DIRECTORIES] as Buffer, `${n}.log`);
      const { status, data } = await mount.read(handle, 0, 100);
      assert.deepEqual([status, data.toString()], [0, `contents of ${n}`]);
    }
  },
);
