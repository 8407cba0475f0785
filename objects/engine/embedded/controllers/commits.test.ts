import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IndexCommit } from '@granary/storage/objects';
import { askedCommit, commitAnswer } from './commits.ts';

/** A commit that crosses, and what arrives on the other side. */
function scene(result: unknown) {
  const seen: unknown[][] = [];
  const made = ((...asked: unknown[]) => {
    seen.push(asked);
    return Promise.resolve(result);
  }) as unknown as IndexCommit;
  const answer = commitAnswer(made);
  const commit = askedCommit(async (message) => structuredClone(await answer(structuredClone(message))));
  return { commit, seen };
}

const put = { bucket: 1, key: 'ключ', size: 3, etag: '0', owner: 'me', attributes: { metadata: { a: 'b' } }, at: 5 };
const written = {
  bucket: 1,
  key: 'ключ',
  sequence: 7,
  versionId: '7',
  isLatest: true,
  isDeleteMarker: false,
  size: 3,
  etag: '0',
  modifiedAt: 5,
  expiresAt: null,
  owner: 'me',
  attributes: {},
  retention: null,
  legalHold: false,
};

for (const [what, more] of Object.entries({
  'a plain PUT': {},
  'one that locks': { retention: { mode: 'GOVERNANCE', until: 9 } as const, legalHold: true },
  'one without a lock': { retention: null, legalHold: false, expiresAt: null },
  'one with conditions': { conditions: { ifNoneMatch: '*' }, expiresAt: 12 },
})) {
  test(`${what} and its answer are the same on the other side`, async () => {
    const { commit, seen } = scene(written);
    const bytes = Uint8Array.of(1, 2, 3);
    const answer = await commit('putObject', { ...put, ...more, content: { kind: 'bytes', policy: 4, bytes } });
    const content = { kind: 'bytes', policy: 4, bytes: Uint8Array.of(1, 2, 3) };
    assert.deepEqual(seen, [['putObject', { ...put, ...more, content }]]);
    assert.deepEqual(answer, written);
  });
}

test('other changes are the same on the other side', async () => {
  const { commit, seen } = scene(null);
  await commit('putObject', { ...put, size: 0, content: { kind: 'empty' } });
  await commit('deleteBucket', { bucket: 1, at: 5 });
  assert.deepEqual(seen, [
    ['putObject', { ...put, size: 0, content: { kind: 'empty' } }],
    ['deleteBucket', { bucket: 1, at: 5 }],
  ]);
});
