import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Reads } from '@granary/kernel/sqlite';
import { unpackPlaces } from '../index/places.ts';

const AT_ONCE = 500;

/** The ways in which blobs of a partition are spread over drives, each once: drive by slot, 0 for a missing piece. */
export async function findSpreads(db: Reads, partition: number): Promise<number[][]> {
  const found = new Map<string, number[]>();
  let after: Uint8Array = new Uint8Array(0);
  for (;;) {
    const rows = db.all<{ id: Uint8Array; places: Uint8Array }>(
      'SELECT id, places FROM blobs WHERE partition = ? AND id > ? ORDER BY id LIMIT ?',
      partition,
      after,
      AT_ONCE,
    );
    for (const { places } of rows) {
      const spread = unpackPlaces(places).map((place) => place?.drive ?? 0);
      found.set(spread.join(), spread);
    }
    const last = rows.at(-1);
    if (!last || rows.length < AT_ONCE) return [...found.values()];
    after = last.id;
    await nextTurn();
  }
}
