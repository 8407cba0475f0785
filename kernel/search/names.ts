import type { FoundRecord } from '@granary/contract';

/** Something that can be found. */
export interface Named {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  readonly detail: string;
  /** Other texts that it is known by: addresses, identifiers, serial numbers. */
  readonly also?: readonly (string | null | undefined)[];
}

const ESCAPED = /[\\%_]/g;
const ASCII = /^[ -~]*$/;
const WORD_START = /[\p{L}\p{N}]/u;

/** The best of these, the best first: by its whole name, by how the name begins, by how a word in it begins, by any part. */
export function bestNamed(things: Iterable<Named>, text: string, limit: number): FoundRecord[] {
  const wanted = text.trim().toLowerCase();
  const found: { thing: Named; rank: number; detail: string }[] = [];
  if (wanted === '') return [];
  for (const thing of things) {
    const rank = rankOf(thing.name, wanted);
    const alias = thing.also?.find((one) => one?.toLowerCase().includes(wanted) === true);
    if (rank !== undefined) found.push({ thing, rank, detail: thing.detail });
    else if (alias !== undefined && alias !== null)
      found.push({ thing, rank: ranks.alias, detail: `${thing.detail} · ${alias}` });
  }
  found.sort((one, other) => one.rank - other.rank || compareNames(one.thing.name, other.thing.name));
  return found.slice(0, limit).map(({ thing: { kind, id, name }, detail }) => ({ kind, id, name, detail }));
}

const ranks = { whole: 0, start: 1, word: 2, part: 3, alias: 4 } as const;

function rankOf(name: string, wanted: string): number | undefined {
  const lower = name.toLowerCase();
  const at = lower.indexOf(wanted);
  if (at === -1) return undefined;
  if (at === 0) return lower.length === wanted.length ? ranks.whole : ranks.start;
  for (let next = at; next !== -1; next = lower.indexOf(wanted, next + 1))
    if (!WORD_START.test(lower[next - 1] ?? '')) return ranks.word;
  return ranks.part;
}

const byName = new Intl.Collator('en', { numeric: true });

function compareNames(one: string, other: string): number {
  return byName.compare(one, other);
}

/**
 * What statements with `likeAny` and `bestFirst` need. SQLite knows upper and lower case of A to Z only, so of other
 * letters both are tried.
 */
export function likeParams(text: string, limit: number) {
  const wanted = text.trim();
  const escaped = (value: string) => value.replaceAll(ESCAPED, (character) => `\\${character}`);
  return {
    lower: `%${escaped(wanted.toLowerCase())}%`,
    upper: ASCII.test(wanted) ? null : `%${escaped(wanted.toUpperCase())}%`,
    start: `${escaped(wanted.toLowerCase())}%`,
    limit,
  };
}

/** A condition: one of these columns holds the text. */
export function likeAny(...columns: readonly string[]): string {
  const terms = columns.map((column) => `${column} LIKE :lower ESCAPE '\\' OR ${column} LIKE :upper ESCAPE '\\'`);
  return `(${terms.join(' OR ')})`;
}

/** An order in which those that `bestNamed` prefers are not cut off by a limit. */
export function bestFirst(column: string): string {
  return `${column} LIKE :start ESCAPE '\\' DESC, length(${column}), ${column} LIMIT :limit`;
}
