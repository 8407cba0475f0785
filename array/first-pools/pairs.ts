import type { Drive } from '../drives/drive.ts';

/**
 * Drives two by two, those of a pair on different storage nodes as far as they go: each pair takes from the two nodes
 * that have most left. A drive without a partner stays free.
 */
export function mirroredPairs(drives: readonly Drive[]): (readonly [Drive, Drive])[] {
  const nodes = [...Map.groupBy(drives, ({ placed }) => placed.node).values()].map((ofNode) => [...ofNode]);
  const pairs: [Drive, Drive][] = [];
  for (;;) {
    const [most, next] = nodes.toSorted((a, b) => b.length - a.length);
    const first = most?.shift();
    const second = next?.shift() ?? most?.shift();
    if (!first || !second) return pairs;
    pairs.push([first, second]);
  }
}
