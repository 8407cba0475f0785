import type { SimpleMeasure } from '@granary/kernel';

/** A gauge of this array. */
export function gauge(name: string, help: string, read: SimpleMeasure['read']): SimpleMeasure {
  return { name: `granary_${name}`, help, type: 'gauge', read };
}

/** A counter of this array. */
export function counter(name: string, help: string, read: SimpleMeasure['read']): SimpleMeasure {
  return { name: `granary_${name}`, help, type: 'counter', read };
}
