/** `start` and `limit` as callers send them: a limit of 0 is none. */
export interface Page {
  readonly start: number;
  readonly limit: number;
}

export const WHOLE: Page = { start: 0, limit: 0 };

/** As SQL wants them: no limit is -1. */
export function sqlPage({ start, limit }: Page): { start: number; limit: number } {
  return { start, limit: limit === 0 ? -1 : limit };
}

/** A page of a list that is in memory. */
export function pageOf<T>(all: readonly T[], { start, limit }: Page): T[] {
  return all.slice(start, limit === 0 ? undefined : start + limit);
}
