/** `start` and `limit` as callers send them: a limit of 0 is none. */
export interface Page {
  readonly start: number;
  readonly limit: number;
}

/** As SQL wants them: no limit is -1. */
export function sqlPage({ start, limit }: Page): { start: number; limit: number } {
  return { start, limit: limit === 0 ? -1 : limit };
}

export function pageOf<T>(all: readonly T[], { start, limit }: Page): T[] {
  return all.slice(start, limit === 0 ? undefined : start + limit);
}
