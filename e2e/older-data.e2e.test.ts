// Goal: a data folder that an older version wrote opens in this one with everything in it.
// Method: older-data/data.tar.gz was made by older-data/make.sh with commit 8626628 and ended by kill -9. `granary up` starts on
// it; block volume, snapshots, object versions and bill are read back by their own protocols.

import assert from 'node:assert/strict';
import { globSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ArrayClient, PortalClient } from '@granary/client';
import { temporaryFolder } from '../testing/folders.ts';
import { until } from '../testing/waiting.ts';
import { unzip } from '../kernel/http/testing/unzip.ts';
import { S3Client } from '../protocols/s3/testing/client.ts';
import { Disk, signInTo } from './block-array.ts';
import { adminPassword, startGranary } from './granary.ts';
import { printed } from './programs.ts';

const fixture = fileURLToPath(new URL('older-data/', import.meta.url));
const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
const INITIATOR = 'iqn.2026-11.org.example:web-1';
/** The arrays of the folder have their addresses in this network. */
const ADDRESSES = '127.90.7.0/24';

const expectedText = (name: string) => readFileSync(join(fixture, 'expected', name), 'utf8');
const expectedJson = (name: string): unknown => JSON.parse(expectedText(name));

/** The volume's first 4 MiB: written whole, then a part overwritten and a part discarded, then 64 KiB overwritten. */
function contentAt(snapshot: 'before-lunch' | 'after-lunch' | undefined): Buffer {
  const content = Buffer.alloc(4 * MEBIBYTE, 0x11);
  if (snapshot === 'before-lunch') return content;
  content.fill(0x22, MEBIBYTE, 2 * MEBIBYTE);
  content.fill(0, 3 * MEBIBYTE, 3 * MEBIBYTE + 512 * KIBIBYTE);
  if (snapshot === undefined) content.fill(0x33, 0, 64 * KIBIBYTE);
  return content;
}

async function readClone(array: ArrayClient, name: string): Promise<Buffer> {
  const { snapshots } = await array.snapshots.list();
  const snapshot = snapshots.find((each) => each.display_name === name);
  assert.ok(snapshot);
  await array.consistencyGroups.clone({ volume_cg_id: snapshot.cg_name, name, snapshot: snapshot.name });
  const { volumes } = await array.volumes.list();
  const id = volumes.find((each) => each.display_name === name)?.name ?? '';
  const { servers } = await array.servers.list();
  await array.servers.attachVolumes({ id: [servers[0]?.name ?? ''], volume_name: [id] });
  return new Disk(array, INITIATOR, id).read(0, 4 * MEBIBYTE);
}

async function checkVolumes(admin: PortalClient): Promise<void> {
  // The portal knows the array as created while its process still starts.
  const signedIn = () => signInTo(admin, 'tank').catch(() => undefined);
  const { client: array } = await until(signedIn, 'the block array answers');
  const { response } = expectedJson('snapshots.json') as { response: { snapshots: unknown[] } };
  assert.deepEqual((await array.snapshots.list()).snapshots, response.snapshots);
  const { volumes } = await array.volumes.list();
  const books = volumes[0];
  assert.ok(volumes.length === 1 && books?.display_name === 'books' && books.status === 'In-use');
  const found = await new Disk(array, INITIATOR, books.name).read(0, 4 * MEBIBYTE);
  assert.ok(found.equals(contentAt(undefined)), 'the volume');
  for (const snapshot of ['before-lunch', 'after-lunch'] as const) {
    assert.ok((await readClone(array, snapshot)).equals(contentAt(snapshot)), snapshot);
  }
}

interface Versions {
  readonly Versions: readonly {
    readonly Key: string;
    readonly VersionId: string;
    readonly ETag: string;
    readonly Size: number;
  }[];
  readonly DeleteMarkers: readonly { readonly Key: string; readonly VersionId: string }[];
}

async function checkObjects(t: TestContext): Promise<void> {
  const { access, secret, address } = expectedJson('s3.json') as Record<'access' | 'secret' | 'address', string>;
  const client = new S3Client(`http://${address}:8080`, { access, secret });
  t.after(() => client.close());
  const { Versions: versions, DeleteMarkers: markers } = expectedJson('versions.json') as Versions;
  const listed = () => client.call('GET', '/letters', { query: { versions: '' } }).catch(() => undefined);
  const listing = await until(listed, 'the object array answers');
  const ids = [...versions, ...markers].map((each) => each.VersionId);
  assert.deepEqual(listing.all('VersionId').toSorted(), ids.toSorted());
  for (const { Key: key, VersionId: versionId, ETag: etag, Size: size } of versions) {
    const { status, bytes, headers } = await client.call('GET', `/letters/${key}`, { query: { versionId } });
    assert.deepEqual([status, headers.etag, bytes.length], [200, etag, size], `${key} ${versionId}`);
  }
  assert.equal((await client.call('GET', '/letters/note')).text, 'the third note\n');
  assert.equal((await client.call('GET', '/letters/gone')).status, 404);
}

async function checkBill(admin: PortalClient): Promise<void> {
  const end = expectedText('bill-end.txt').trim();
  const { bytes } = await admin.billing.download({ start_datetime: `${end.slice(0, 7)}-01 00:00`, end_datetime: end });
  const files = unzip(bytes);
  for (const name of ['items.csv', 'summary.csv']) assert.equal(files.get(name)?.toString(), expectedText(name), name);
}

test('a data folder of an older version opens with its volumes, snapshots, object versions and bill', async (t) => {
  const folder = temporaryFolder(t);
  await printed('tar', ['-C', folder, '-xzf', join(fixture, 'data.tar.gz')], { cwd: folder, env: {} });
  const env = { GRANARY_ADMIN_PASSWORD: adminPassword };
  const granary = await startGranary(join(folder, 'granary-data'), { env, addresses: ADDRESSES });
  t.after(() => granary.kill());
  const admin = await granary.admin();
  await checkVolumes(admin);
  await checkObjects(t);
  await checkBill(admin);
  assert.equal(await granary.stop(), 0);
});

test('an upgraded installation goes back by the backup that was made before', async (t) => {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, 'granary-data');
  const around = { cwd: folder, env: {} };
  await printed('tar', ['-C', folder, '-xzf', join(fixture, 'data.tar.gz')], around);
  const command = fileURLToPath(new URL('../cli/bin/granary.js', import.meta.url));
  const granary = (...args: string[]) => printed(process.execPath, [command, ...args], around);
  const backups = join(folder, 'backups');
  mkdirSync(backups);
  await granary('backup', '--data', dataDir, '--with-drives', '--to', backups);
  const options = { env: { GRANARY_ADMIN_PASSWORD: adminPassword }, addresses: ADDRESSES };
  const upgraded = await startGranary(dataDir, options);
  t.after(() => upgraded.kill());
  const admin = await upgraded.admin();
  const { client } = await until(() => signInTo(admin, 'tank').catch(() => undefined), 'the upgraded array answers');
  const written = (await client.volumes.list()).volumes[0];
  await client.volumes.rename({ id: written?.name ?? '', new_name: 'after the upgrade' });
  assert.equal(await upgraded.stop(), 0);

  const [backup = ''] = globSync('granary-*', { cwd: backups });
  const restored = join(folder, 'restored');
  await granary('restore', '--from', join(backups, backup), '--data', restored, '--adopt');
  const before = await startGranary(restored, options);
  t.after(() => before.kill());
  await checkVolumes(await before.admin());
  await checkObjects(t);
  assert.equal(await before.stop(), 0);
});
