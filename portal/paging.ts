/** `start` and `limit` as SQL wants them: no limit is -1. */
export interface Page {
  readonly start: number;
  readonly limit: number;
}

export function sqlPage({ start, limit }: Page): { start: number; limit: number } {
  return { start, limit: limit === 0 ? -1 : limit };
}

/** A page of a list that is in memory anyway. */
export function pageOf<T>(items: readonly T[], { start, limit }: Page): T[] {
  return items.slice(start, limit === 0 ? undefined : start + limit);
}
