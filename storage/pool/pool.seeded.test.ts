import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { rounds } from '../../testing/effort.ts';
import { MemoryGroup } from '../testing/memory-group.ts';
import { PoolModel, type Step, STEP_KINDS } from '../testing/pool-model.ts';
import { Pool } from './pool.ts';

const STEPS = rounds({ quick: 400, long: 4_000, torture: 10_000 });

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...STEP_KINDS),
  which: fc.nat({ max: 1000 }),
  at: fc.nat({ max: 100_000 }),
  size: fc.nat({ max: 1000 }),
});

const MIB = 1024 * 1024;

/** Runs a story on a pool of memory groups, with expand, shrink and reopen among the steps. */
async function tell(steps: readonly Step[], encrypted: boolean): Promise<void> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'granary-pool-'));
  const file = path.join(folder, 'pool.db');
  const groups = [new MemoryGroup('group-1', 40 * MIB), new MemoryGroup('group-2', 40 * MIB)];
  const key = Buffer.from(Array.from({ length: 64 }, (_, index) => index));
  const problems: unknown[] = [];
  const onError = (error: unknown): void => void problems.push(error);
  const pool = await Pool.create({ file, id: 'pool', mode: 'stripe', groups, onError });
  const model = new PoolModel(pool, (which) => (encrypted && which % 2 === 0 ? { key } : {}));
  let names = groups.length;
  const special = async ({ which, size }: Step): Promise<void> => {
    if (which % 3 === 0 && groups.length < 5) {
      const group = new MemoryGroup(`group-${++names}`, (8 + (size % 16)) * MIB);
      groups.push(group);
      await model.pool.addGroup(group);
    } else if (which % 3 === 1) {
      const id = groups[size % groups.length]?.id ?? '';
      const removed = await model.pool.removeGroup(id).then(
        () => true,
        () => false,
      );
      if (removed)
        groups.splice(
          groups.findIndex((group) => group.id === id),
          1,
        );
    } else {
      await model.pool.close();
      model.pool = Pool.open({ file, groups, onError });
      for (const volume of model.pool.volumes.list()) if (volume.encrypted) model.pool.volumes.unlock(volume.id, key);
    }
  };
  try {
    for (const each of steps) await model.run(each, special);
    await model.pool.whenIdle();
    await model.verify();
    if (problems.length > 0) throw problems[0];
  } finally {
    await model.pool.close();
    await fs.rm(folder, { recursive: true });
  }
}

for (const encrypted of [false, true]) {
  test(`a pool equals its model through ${STEPS} random operations${encrypted ? ', encrypted' : ''}`, async () => {
    const story = fc.array(step, { minLength: STEPS, maxLength: STEPS, size: 'max' });
    const short = fc.array(step, { maxLength: 300, size: 'max' });
    await fc.assert(
      fc.asyncProperty(short, (steps) => tell(steps, encrypted)),
      { numRuns: rounds({ quick: 3, long: 10, torture: 20 }) },
    );
    await fc.assert(
      fc.asyncProperty(story, (steps) => tell(steps, encrypted)),
      { numRuns: rounds({ quick: 1, long: 1, torture: 20 }), plugins: [fc.interruptAfterTimeLimit(600_000)] },
    );
  });
}
