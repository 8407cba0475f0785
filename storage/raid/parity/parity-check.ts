import { allocate, computeParity, release } from '../../kernels/index.ts';

/** Whether P and Q, the last two shards, match the data shards before them. */
export function isParityConsistent(shards: readonly Buffer[]): boolean {
  const data = shards.slice(0, -2);
  const [p, q] = shards.slice(-2);
  if (p === undefined || q === undefined) return false;
  const computedP = allocate(p.length);
  const computedQ = allocate(q.length);
  try {
    computeParity([...data, computedP, computedQ]);
    return computedP.equals(p) && computedQ.equals(q);
  } finally {
    release(computedP);
    release(computedQ);
  }
}
