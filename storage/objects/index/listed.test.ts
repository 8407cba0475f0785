import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ObjectAttributes } from '../records.ts';
import { IndexFixture } from './testing/fixture.ts';

const KINDS: readonly ObjectAttributes[] = [
  {},
  { contentType: 'text/plain' },
  { contentType: 'text/html', metadata: { a: '0' } },
];

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
          assert.deepEqual(attributes, reader.version(bucket.id, key)?.attributes);
        }
      }
    }),
  );
});
