/** Runs `atOnce` at a time. A failure ends it, once those under way have ended. */
export async function eachAtOnce<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of { [Symbol.iterator]: () => left }) await work(item);
  };
  const ends = await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

/** Consecutive parts of at most `size` items. */
export function* batchesOf<T>(items: readonly T[], size: number): Generator<readonly T[], undefined, undefined> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
