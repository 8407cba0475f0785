import type { ObjectStore } from '@granary/storage/objects';
import { Refusal } from '../request/refusal.ts';

export function policyName(store: ObjectStore, index: number): string {
  return store.layout.rings.find((ring) => ring.policy.index === index)?.policy.name ?? String(index);
}

/** The policy a new container gets: the one that is named, else the default. */
export function policyFor(store: ObjectStore, name: string | undefined): number {
  if (name === undefined || name === '') {
    if (store.layout.defaultPolicy !== null) return store.layout.defaultPolicy;
    throw new Refusal(503, 'There is no storage policy yet.', { 'retry-after': '30' });
  }
  const wanted = name.toLowerCase();
  const ring = store.layout.rings.find((each) => each.policy.name.toLowerCase() === wanted);
  if (ring === undefined) throw new Refusal(400, `Invalid X-Storage-Policy '${name}'`);
  return ring.policy.index;
}
