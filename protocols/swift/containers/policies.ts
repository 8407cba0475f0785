import { findPolicyNamed, type ObjectStore } from '@granary/storage/object-store';
import { SwiftRefusal } from '../request/refusal.ts';

export function policyName(store: ObjectStore, index: number): string {
  return store.policies.find((policy) => policy.index === index)?.name ?? String(index);
}

/** The policy a new container gets: the one that is named, else the default. */
export function policyFor(store: ObjectStore, name: string | undefined): number {
  if (name === undefined || name === '') {
    if (store.defaultPolicy !== null) return store.defaultPolicy;
    throw new SwiftRefusal(503, 'There is no storage policy yet.', { 'retry-after': '30' });
  }
  const policy = findPolicyNamed(store.policies, name);
  if (policy === undefined) throw new SwiftRefusal(400, `Invalid X-Storage-Policy '${name}'`);
  return policy.index;
}
