/** What a place of a pattern is. `dirs` takes nothing: from it, `**` with its slash may be passed over. */
const CODE = 0;
const ANY = 1;
const CLASS = 2;
const STAR = 3;
const GLOBSTAR = 4;
const DIRS = 5;

interface Places {
  readonly kinds: Uint8Array;
  /** Of a character that stands for itself. */
  readonly codes: Uint16Array;
  readonly classes: ReadonlyMap<number, CharacterClass>;
}

interface CharacterClass {
  readonly isNegated: boolean;
  readonly ranges: readonly (readonly [number, number])[];
}

const SLASH = 0x2f;
const PATTERN_LENGTH_MAX = 128;

/**
 * A pattern as shells have them: `*`, `?`, `[a-z]`, `[!a-z]`, `\` before a character that stands for itself, and `**`,
 * which also crosses directories. All places the match could be at are followed side by side, one character after the
 * other, so its cost is at most the length of the text times that of the pattern, whatever the pattern is: a regular
 * expression can take a time that doubles with each character. Returns a text that says what is wrong, or the match.
 */
export function compileGlob(pattern: string): ((text: string) => boolean) | string {
  if (pattern.length > PATTERN_LENGTH_MAX) return `must have at most ${PATTERN_LENGTH_MAX} characters`;
  const places = placesOf(pattern);
  if (typeof places === 'string') return places;
  const end = places.kinds.length;
  let active = new Uint8Array(end + 1);
  let next = new Uint8Array(end + 1);
  return (text) => {
    active.fill(0);
    active[0] = 1;
    passEmpty(places, active);
    for (let at = 0; at < text.length; at += 1) {
      if (!step(places, active, next, text.charCodeAt(at))) return false;
      [active, next] = [next, active];
    }
    return active[end] === 1;
  };
}

/** False when no place is left. Plain loops: this runs for each character of each path. */
function step(places: Places, active: Uint8Array, next: Uint8Array, code: number): boolean {
  const { kinds, codes } = places;
  next.fill(0);
  let isAlive = false;
  for (let index = 0; index < kinds.length; index += 1) {
    if (active[index] === 0) continue;
    const kind = kinds[index];
    if (kind === GLOBSTAR || (kind === STAR && code !== SLASH)) next[index] = 1;
    else if (kind === CODE ? codes[index] === code : kind === ANY && code !== SLASH) next[index + 1] = 1;
    else if (kind === CLASS && takes(places.classes.get(index), code)) next[index + 1] = 1;
    else continue;
    isAlive = true;
  }
  if (isAlive) passEmpty(places, next);
  return isAlive;
}

/** What may match nothing is passed over. In order, so that one pass does. */
function passEmpty({ kinds }: Places, active: Uint8Array): void {
  for (let index = 0; index < kinds.length; index += 1) {
    if (active[index] === 0) continue;
    const kind = kinds[index];
    if (kind === STAR || kind === GLOBSTAR || kind === DIRS) active[index + 1] = 1;
    if (kind === DIRS) active[index + 3] = 1;
  }
}

function takes(wanted: CharacterClass | undefined, code: number): boolean {
  if (!wanted || code === SLASH) return false;
  return wanted.ranges.some(([from, to]) => code >= from && code <= to) !== wanted.isNegated;
}

function placesOf(pattern: string): Places | string {
  const kinds: number[] = [];
  const codes: number[] = [];
  const classes = new Map<number, CharacterClass>();
  const add = (kind: number, code = 0) => {
    kinds.push(kind);
    codes.push(code);
  };
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '*' && pattern[at + 1] === '*') {
      if ((at === 0 || pattern[at - 1] === '/') && pattern[at + 2] === '/') add(DIRS);
      add(GLOBSTAR);
      at += 1;
    } else if (character === '*') add(STAR);
    else if (character === '?') add(ANY);
    else if (character === '[') {
      const end = classEnd(pattern, at);
      if (end === undefined) return 'has a [ without its ]';
      classes.set(kinds.length, classOf(pattern.slice(at + 1, end)));
      add(CLASS);
      at = end;
    } else {
      if (character === '\\') at += 1;
      if (at >= pattern.length) return 'ends in a \\ with nothing after it';
      add(CODE, pattern.charCodeAt(at));
    }
  }
  return { kinds: Uint8Array.from(kinds), codes: Uint16Array.from(codes), classes };
}

/** A `]` that comes first stands for itself. */
function classEnd(pattern: string, start: number): number | undefined {
  const from = start + (pattern[start + 1] === '!' || pattern[start + 1] === '^' ? 3 : 2);
  const end = pattern.indexOf(']', from);
  return end === -1 ? undefined : end;
}

function classOf(text: string): CharacterClass {
  const isNegated = text.startsWith('!') || text.startsWith('^');
  const members = isNegated ? text.slice(1) : text;
  const ranges: [number, number][] = [];
  for (let at = 0; at < members.length; at += 1) {
    const from = members.charCodeAt(at);
    const isRange = members[at + 1] === '-' && at + 2 < members.length;
    ranges.push([from, isRange ? members.charCodeAt(at + 2) : from]);
    if (isRange) at += 2;
  }
  return { isNegated, ranges };
}
