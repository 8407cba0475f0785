const LAST_CODE_POINT = 0x10ffff;
const BEFORE_SURROGATES = 0xd7ff;
const AFTER_SURROGATES = 0xe000;

/**
 * The least key that comes after every key which begins with `prefix`; null when there is none. In UTF-8, order by
 * bytes is order by code points, so it is the prefix with its last code point made one larger.
 */
export function pastPrefix(prefix: string): string | null {
  const points = Array.from(prefix);
  while (points.length > 0) {
    const last = points.pop()?.codePointAt(0) ?? LAST_CODE_POINT;
    if (last === LAST_CODE_POINT) continue;
    const next = last === BEFORE_SURROGATES ? AFTER_SURROGATES : last + 1;
    return points.join('') + String.fromCodePoint(next);
  }
  return null;
}

/** Order of keys as SQLite has it. JavaScript's own order is by UTF-16 units, which puts U+10000 before U+FFFD. */
export function compareKeys(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at += 1) {
    const a = one.charCodeAt(at);
    const b = other.charCodeAt(at);
    if (a !== b) return rank(a) - rank(b);
  }
  return one.length - other.length;
}

/** Surrogates stand for code points above all others. */
function rank(unit: number): number {
  const isSurrogate = unit > BEFORE_SURROGATES && unit < AFTER_SURROGATES;
  return isSurrogate ? unit + LAST_CODE_POINT : unit;
}

/** What a key has in common with others up to the next delimiter, that included; null when it is listed by itself. */
export function commonPrefix(key: string, prefix: string, delimiter: string | null): string | null {
  if (delimiter === null || delimiter === '') return null;
  const at = key.indexOf(delimiter, prefix.length);
  return at < 0 ? null : key.slice(0, at + delimiter.length);
}
