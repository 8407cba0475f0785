import { commonPrefix } from '../keys.ts';

/** Order of keys by their bytes, the plain way. */
export function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

export interface ModelQuery {
  readonly prefix: string;
  readonly delimiter: string | null;
  readonly after: string | null;
  readonly before: string | null;
  readonly reverse: boolean;
  readonly limit: number;
}

export interface ModelEntry<T> {
  /** Key or common prefix. */
  readonly name: string;
  readonly items: readonly T[];
}

/** A listing as one would write it without an index: look at everything, throw away what is not wanted. */
export function listPlainly<T>(all: ReadonlyMap<string, readonly T[]>, query: ModelQuery): ModelEntry<T>[] {
  const { prefix, delimiter, after, before, reverse } = query;
  const [above, below] = reverse ? [before, after] : [after, before];
  const keys = [...all.keys()].filter(
    (key) =>
      key.startsWith(prefix) &&
      (above === null || byBytes(key, above) > 0) &&
      (below === null || byBytes(key, below) < 0),
  );
  keys.sort(byBytes);
  if (reverse) keys.reverse();
  const entries = new Map<string, ModelEntry<T>>();
  for (const key of keys) {
    const common = commonPrefix(key, prefix, delimiter);
    if (common === null) entries.set(key, { name: key, items: all.get(key) ?? [] });
    else if (common !== after) entries.set(common, { name: common, items: [] });
  }
  return [...entries.values()];
}
