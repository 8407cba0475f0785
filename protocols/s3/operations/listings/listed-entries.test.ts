import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ListedObject } from '@granary/storage/object-store';
import { Query } from '../../address.ts';
import { readXml } from '../../xml-reader.ts';
import { keyText } from './list-parameters.ts';
import { listedEntries } from './listed-entries.ts';

const STORE = { policies: [{ index: 1, name: 'cold & slow', copies: 2, dataFragments: 0, parityFragments: 0 }] };

const checksum = fc.record({
  algorithm: fc.constantFrom('CRC32', 'SHA256'),
  value: fc.constant('AAAAAA=='),
  type: fc.constantFrom('FULL_OBJECT', 'COMPOSITE'),
});
const attributes = fc.record(
  {
    checksum,
    staticManifest: fc.record({ etag: fc.constant('e'.repeat(32)), size: fc.nat() }),
    policy: fc.constant(1),
  },
  { requiredKeys: [] },
);
const objects = fc.array(
  fc.record({
    key: fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '')),
    ),
    size: fc.constantFrom(0, 16, 2 ** 40),
    etag: fc.constantFrom('0'.repeat(32), `${'a'.repeat(32)}-12`),
    modifiedAt: fc.integer({ min: 0, max: 2 ** 42 }),
    attributes,
  }),
  { maxLength: 150 },
) as fc.Arbitrary<ListedObject[]>;

/** As a client reads it. */
function read(entries: readonly string[], decode: (key: string) => string) {
  return readXml(`<List>${entries.join('')}</List>`, 'List')
    .all('Contents')
    .map((entry) => ({
      key: decode(entry.need('Key')),
      modified: entry.need('LastModified'),
      etag: entry.need('ETag'),
      size: Number(entry.need('Size')),
      algorithm: entry.text('ChecksumAlgorithm'),
      type: entry.text('ChecksumType'),
      storageClass: entry.need('StorageClass'),
    }));
}

function expected({ key, modifiedAt, attributes: { checksum: sum, staticManifest, policy }, ...own }: ListedObject) {
  const { etag, size } = staticManifest ?? own;
  return {
    key,
    modified: new Date(Math.floor(modifiedAt / 1000) * 1000).toISOString(),
    etag: `"${etag}"`,
    size,
    algorithm: sum?.algorithm,
    type: sum?.type,
    storageClass: policy === undefined ? 'STANDARD' : 'cold & slow',
  };
}

for (const [name, query, decode] of [
  ['as they are', '', (key: string) => key],
  ['percent-encoded', 'encoding-type=url', decodeURIComponent],
] as const) {
  test(`a client reads what was listed, with keys ${name}`, () => {
    const text = keyText(new Query(query));
    fc.assert(
      fc.property(objects, (listed) => {
        assert.deepEqual(read(listedEntries(listed, text, new Map(), STORE), decode), listed.map(expected));
      }),
      { numRuns: 300 },
    );
  });
}
