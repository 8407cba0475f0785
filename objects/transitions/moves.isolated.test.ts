// Goal: a walk that moves many objects keeps nothing of them in memory, while the array runs on.
// Method: an engine that moves at once, and the promises that are left after a collection.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queryObjects } from 'node:v8';
import { createLog, EventLog, ManualClock, Store } from '@granary/kernel';
import type { Bucket, ListedVersion } from '@granary/storage/object-store';
import { temporaryFolder } from '../../testing/folders.ts';
import { migrations } from '../migrations.ts';
import { TransitionService } from './service.ts';

const OBJECTS = 3_000;
const PAST = Date.parse('2020-01-01T00:00:00Z');

const promises = () => queryObjects(Promise, { format: 'count' });

test('objects that were moved leave nothing behind', async (t) => {
  const clock = new ManualClock('2026-01-01T00:00:00Z');
  const store = new Store(`${temporaryFolder(t)}/objects.db`, migrations);
  t.after(() => store.close());
  const rule = { id: 'move', enabled: true, prefix: '', transitions: [{ policy: 1, date: PAST }] };
  const bucket = { id: 1, policy: 0, settings: { lifecycle: [rule] } } as unknown as Bucket;
  const version = (sequence: number) =>
    ({ key: String(sequence).padStart(6, '0'), sequence, modifiedAt: 0, size: 1e6, attributes: {} }) as ListedVersion;
  let moved = 0;
  const engine = {
    catalogue: {
      bucketsAging: (after: number) => (after < 1 ? [bucket] : []),
      bucketById: () => bucket,
      listVersions: (_: number, { after, limit }: { after: { key: string } | null; limit: number }) => {
        const first = after ? Number(after.key) + 1 : 0;
        const versions = Array.from({ length: Math.min(limit, OBJECTS - first) }, (_, index) => version(first + index));
        const last = versions.at(-1)?.key ?? '';
        return { versions, prefixes: [], next: first + limit < OBJECTS ? { key: last, versionId: null } : null };
      },
    },
    move: async () => {
      moved += 1;
      return true;
    },
  };
  const tools = { store, clock, events: new EventLog(clock), log: createLog('test', 'silent') };
  const transitions = new TransitionService({ ...tools, engine });
  t.after(() => transitions.stop());
  const before = promises();
  await transitions.run();
  assert.equal(moved, OBJECTS);
  assert.ok(promises() - before < OBJECTS / 10, `${promises() - before} promises are left`);
});
