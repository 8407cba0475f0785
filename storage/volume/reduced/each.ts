import type { Done } from '../../units.ts';

/**
 * Processes the items with at most `atOnce` in flight. After a failure no item is started; those in flight are awaited.
 */
export async function each<T>(items: readonly T[], atOnce: number, work: (item: T) => Done): Promise<void> {
  const failures: unknown[] = [];
  const queue = items.values();
  const lane = async (): Promise<void> => {
    for (const item of queue) {
      try {
        await work(item);
      } catch (error) {
        failures.push(error);
      }
      if (failures.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, lane));
  if (failures.length > 0) throw failures[0];
}

/** Waits for all of them, then throws the first error: nothing uses the caller's buffer afterwards. */
export async function allOf(waits: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(waits);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}
