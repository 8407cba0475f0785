import { gigabytes } from '../../parts/format.ts';
import { typedSize } from '../../parts/typed-number.ts';

/** Beside what is provisioned: by how much it is more than there is. Amounts in GB. */
export function overcommittedWords(provisioned: number, capacity: number): string {
  const more = provisioned - capacity;
  return more > 0 ? `, ${gigabytes(more)} more than the pools have` : '';
}

/** Of a size as it is typed, that is more than its pool has free: allowed, and worth knowing. */
export function roomWords(
  size: unknown,
  pool: { readonly display_name: string; readonly available_capacity: number } | undefined,
  /** What the volume may write already, before it gets larger. */
  unwritten = 0,
): string | undefined {
  const typed = typeof size === 'string' ? typedSize(size) : undefined;
  if (!pool || typed === undefined || !Number.isFinite(typed)) return undefined;
  const wanted = typed / 1024 + unwritten;
  const { display_name: name, available_capacity: free } = pool;
  if (typed === 0 || wanted <= free) return undefined;
  const what = unwritten > 0 ? `The volume could then write ${gigabytes(wanted)} more, but` : `That is more than free:`;
  return `${what} pool ${name} has ${gigabytes(free)} free. It is allowed, because room is taken only when data is written. Expand the pool before it is full.`;
}
