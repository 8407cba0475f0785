import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ListQuery } from '../object-store.ts';
import type { ListedAttributes, ObjectAttributes } from '../records.ts';
import { IndexFixture } from './testing/fixture.ts';

const KINDS: readonly ObjectAttributes[] = [
  {},
  { contentType: 'text/plain' },
  { contentType: 'text/html', metadata: { a: '0' } },
  { contentType: 'text/html', metadata: { a: '1' }, headers: { expires: '0' } },
  { tags: { a: '0' }, checksum: { algorithm: 'CRC32', type: 'FULL_OBJECT', value: 'AAAAAA==' } },
  { tags: { a: '0' }, checksum: { algorithm: 'CRC32', type: 'FULL_OBJECT', value: 'AAAAAQ==' } },
  { tags: { a: '0' }, checksum: { algorithm: 'CRC32', type: 'COMPOSITE', value: 'AAAAAQ==-2' } },
];
const FIRST: ListQuery = { prefix: '', delimiter: null, after: null, limit: 1000 };
const CHECKSUM = { algorithm: 'SHA1', type: 'FULL_OBJECT', value: 'qZk+NkcGgWq6PiVxeFDCbJzQ2J0=' } as const;

/** What listings show of them. */
function listedOf({ headers: _, metadata: __, checksum, ...listed }: ObjectAttributes): ListedAttributes {
  return { ...listed, ...(checksum && { checksum: { algorithm: checksum.algorithm, type: checksum.type } }) };
}

test('each object is listed with its own attributes, whichever were usual in the pages before', async () => {
  await using index = new IndexFixture();
  const bucket = await index.bucket();
  const kinds = fc.sample(fc.constantFrom(...KINDS), 60);
  const keyOf = (number: number): string => `${number % 3}/${String(number).padStart(3, '0')}`;
  await Promise.all(kinds.map((attributes, number) => index.put(bucket, keyOf(number), { attributes })));
  const { reader } = index.writer;
  const pages = fc.record({
    prefix: fc.constantFrom('', '0/', '1/', '2/'),
    delimiter: fc.constantFrom(null, '/', '5'),
    after: fc.option(fc.nat(60).map(keyOf)),
    limit: fc.integer({ min: 1, max: 30 }),
    reverse: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(pages, { minLength: 1, maxLength: 5 }), (queries) => {
      for (const query of queries) {
        for (const { key, attributes } of reader.list(bucket.id, query).objects) {
          assert.deepEqual(attributes, listedOf(reader.version(bucket.id, key)?.attributes ?? {}));
        }
      }
    }),
  );
});

test('every attribute comes back, also after a change of some', async () => {
  await using index = new IndexFixture();
  const bucket = await index.bucket();
  const { reader, commit } = index.writer;
  const attributes: ObjectAttributes = {
    contentType: 'text/plain',
    headers: { 'cache-control': 'no-store' },
    metadata: { mtime: '1' },
    tags: { a: 'b' },
    checksum: CHECKSUM,
    acl: 'public-read',
  };
  await index.put(bucket, 'k', { attributes });
  assert.deepEqual(reader.version(bucket.id, 'k')?.attributes, attributes);
  const changed = { ...attributes, metadata: { mtime: '2' }, tags: {} };
  await commit('changeVersion', { bucket: bucket.id, key: 'k', attributes: changed, at: 1 });
  assert.deepEqual(reader.version(bucket.id, 'k')?.attributes, changed);
  await commit('changeVersion', { bucket: bucket.id, key: 'k', legalHold: false, at: 2 });
  assert.deepEqual(reader.version(bucket.id, 'k')?.attributes, changed);
});

test('a file of before, whose attributes are not separate from details, is read and listed as it was', async () => {
  await using index = new IndexFixture();
  const bucket = await index.bucket();
  await index.put(bucket, 'k', {});
  const old = { contentType: 'text/plain', metadata: { a: '0' }, checksum: CHECKSUM };
  await index.writer.change((tx) => {
    tx.run('UPDATE objects SET attributes = ?, details = ?', JSON.stringify(old), JSON.stringify({ partSizes: [5] }));
    for (const table of ['objects', 'versions']) tx.exec(`ALTER TABLE ${table} RENAME COLUMN details TO parts`);
    tx.exec('ALTER TABLE buckets DROP COLUMN noncurrent; ALTER TABLE parts DROP COLUMN start');
    tx.exec(
      'DROP TABLE schema_versions; DROP INDEX buckets_aging; DROP TABLE given_up_uploads; DROP TABLE doubts; DROP TABLE notifications',
    );
  });
  await index.reopen();
  const { reader } = index.writer;
  assert.deepEqual(reader.version(bucket.id, 'k')?.attributes, { ...old, partSizes: [5] });
  assert.deepEqual(
    reader.list(bucket.id, FIRST).objects.map(({ key }) => key),
    ['k'],
  );
  await index.put(bucket, 'l', { attributes: old });
  assert.deepEqual(reader.version(bucket.id, 'l')?.attributes, old);
  const made = reader.db.arrays(
    "SELECT name FROM sqlite_schema WHERE name IN ('buckets_aging', 'given_up_uploads', 'doubts')",
  );
  assert.equal(made.length, 3);
});

test('the file of the index has a version, and one of a newer release is refused', async () => {
  await using index = new IndexFixture();
  const versions = 'SELECT component, version FROM schema_versions ORDER BY component';
  assert.deepEqual(index.writer.reader.db.arrays(versions), [
    ['index', 5],
    ['layout', 2],
  ]);
  await index.writer.change((tx) => tx.run("UPDATE schema_versions SET version = 9 WHERE component = 'index'"));
  await assert.rejects(index.reopen(), /index tables are at version 9, newer than this release knows \(5\)/);
});
