import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DriveActivity, IndexCommit, StagedBlob } from '@granary/storage/objects';
import type { DriveShare } from '../activity.ts';
import { testObjects } from '../../testing/test-objects.ts';
import { SmallBodies } from './small-bodies.ts';

const put = { bucket: 1, key: 'key', size: 3, etag: '0', owner: '', attributes: {}, at: 0 };
const along = { kind: 'bytes', policy: 7, bytes: new Uint8Array(3) } as const;
const nothing = { operations: 0, bytes: 0, milliseconds: 0 };

/** Small bodies over a manager that takes everything, and what came of them. */
function scene() {
  const seen = {
    staged: [] as number[],
    committed: [] as unknown[],
    reported: [] as DriveShare[],
    full: [] as number[],
  };
  const commit = ((_operation: string, args: { readonly content: unknown }) => {
    seen.committed.push(args.content);
    return Promise.resolve(null);
  }) as unknown as IndexCommit;
  const activity = (): ReadonlyMap<number, DriveActivity> => {
    const done = { operations: seen.staged.length, bytes: 3 * seen.staged.length, milliseconds: 1 };
    return new Map([[1, { put: done, get: nothing, delete: nothing }]]);
  };
  const stage = (policy: number): Promise<StagedBlob[]> => {
    seen.staged.push(policy);
    return Promise.resolve([]);
  };
  const bodies = new SmallBodies({
    manager: { stage, activity },
    index: { commit },
    fullPolicies: () => seen.full,
    onDriveActivity: (shares) => seen.reported.push(...shares),
    isUsed: true,
  });
  return { bodies, seen };
}

test('bytes that come along are put on drives before their change, and the drive activity is reported once', async () => {
  const { bodies, seen } = scene();
  await bodies.commit('putObject', { ...put, content: along });
  assert.deepEqual(seen.staged, [7]);
  assert.deepEqual(seen.committed, [{ kind: 'staged', blobs: [] }]);
  bodies.report();
  bodies.close();
  assert.deepEqual(
    seen.reported.map(({ drive, activity }) => [drive, activity.put.operations, activity.put.bytes]),
    [[1, 1, 3]],
  );
});

test('a policy that is nearly full takes no small body, and nothing is changed', async () => {
  const { bodies, seen } = scene();
  seen.full = [7];
  await assert.rejects(bodies.commit('putObject', { ...put, content: along }), { code: 'no-space' });
  await bodies.commit('putObject', { ...put, size: 0, content: { kind: 'empty' } });
  assert.deepEqual([seen.staged, seen.committed], [[], [{ kind: 'empty' }]]);
  bodies.close();
});

for (const gathersSmallBodies of [true, false]) {
  const who = gathersSmallBodies ? 'the main thread puts it' : 'controllers put it';
  test(`a small body is read as it was written, also after a restart, where ${who} on the drives`, async (t) => {
    const objects = await testObjects(t, { gathersSmallBodies });
    const s3 = objects.s3(objects.owner);
    t.after(() => s3.close());
    const bodies = ['a', 'b'.repeat(4096), 'c'.repeat(16 * 1024), 'd'.repeat(16 * 1024 + 1)];
    assert.equal((await s3.call('PUT', '/bucket')).status, 200);
    const answers = await Promise.all(bodies.map((body, at) => s3.call('PUT', `/bucket/${at}`, { body })));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    await objects.restart();
    for (const [at, body] of bodies.entries()) assert.equal((await s3.call('GET', `/bucket/${at}`)).text, body);
  });
}
