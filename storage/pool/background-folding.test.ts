import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Layer } from '../volume/layers.ts';
import { BackgroundFolding } from './background-folding.ts';

const unreferenced = (): Layer => ({ isUnreferenced: true }) as Layer;

test('a fold that waits while the pool is closed is left out, and nothing is reported', async () => {
  const folded: Layer[] = [];
  const errors: unknown[] = [];
  const folding = new BackgroundFolding(
    async (layer) => {
      folded.push(layer);
      return [];
    },
    (error) => errors.push(error),
  );
  const started = Promise.withResolvers<undefined>();
  const end = Promise.withResolvers<undefined>();
  const before = folding.exclusively(() => {
    started.resolve(undefined);
    return end.promise;
  });
  await started.promise;
  folding.foldIfUnreferenced(unreferenced());
  folding.foldIfUnreferenced(unreferenced());

  const closed = folding.close();
  end.resolve(undefined);
  await Promise.all([before, closed, folding.whenIdle()]);

  assert.deepEqual(folded, []);
  assert.deepEqual(errors, []);
  await assert.rejects(
    folding.exclusively(async () => undefined),
    { code: 'closed' },
  );
});
