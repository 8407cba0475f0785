import { conditionKey } from './condition-keys.ts';

/** What stands for any text, for one character, and for the value of a key of the request (`${aws:username}`). */
type Token = string | { readonly any: true } | { readonly one: true } | { readonly variable: string };

const ANY = { any: true } as const;
const ONE = { one: true } as const;
const VARIABLE = /\$\{([^}]*)\}/y;

/** Steps that patterns may take together in one evaluation. What needs more is made to take long. */
let stepsLeft = Infinity;

export class TooManySteps extends Error {}

/** Patterns that are held against texts in `work` throw TooManySteps when they have taken more steps than these. */
export function withinSteps<T>(most: number, work: () => T): T {
  const before = stepsLeft;
  stepsLeft = most;
  try {
    return work();
  } finally {
    stepsLeft = before;
  }
}

function spend(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft < 0) throw new TooManySteps();
}

export type Lookup = (key: string) => readonly string[] | undefined;

/** A text of a policy with `*`, `?` and variables in it. */
export class Pattern {
  readonly text: string;
  readonly #tokens: readonly Token[];
  readonly #plain: string | undefined;

  /** Without `wild`, stars and question marks mean themselves. */
  constructor(text: string, wild = true) {
    this.text = text;
    this.#tokens = tokensOf(text, wild);
    this.#plain = this.#tokens.every((token) => typeof token === 'string') ? this.#tokens.join('') : undefined;
  }

  /** A variable the request has no value for matches nothing. */
  matches(text: string, lookup: Lookup, ignoreCase = false): boolean {
    const fold = (part: string) => (ignoreCase ? part.toLowerCase() : part);
    if (this.#plain !== undefined) return fold(this.#plain) === fold(text);
    const tokens = expand(this.#tokens, lookup);
    return (
      tokens !== undefined &&
      glob(
        tokens.map((token) => (typeof token === 'string' ? fold(token) : token)),
        fold(text),
      )
    );
  }

  /** Keys its variables name. */
  variables(): string[] {
    return this.#tokens.flatMap((token) => (typeof token === 'object' && 'variable' in token ? [token.variable] : []));
  }
}

function tokensOf(text: string, wild: boolean): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; at++) {
    VARIABLE.lastIndex = at;
    const variable = VARIABLE.exec(text)?.[1];
    const character = text[at] ?? '';
    if (variable !== undefined) {
      tokens.push(variable.length === 1 ? variable : { variable: conditionKey(variable) ?? variable });
      at += variable.length + 2;
    } else if (wild && character === '*') tokens.push(ANY);
    else if (wild && character === '?') tokens.push(ONE);
    else tokens.push(character);
  }
  return tokens;
}

type Expanded = string | typeof ANY | typeof ONE;

function expand(tokens: readonly Token[], lookup: Lookup): Expanded[] | undefined {
  spend(tokens.length);
  const expanded: Expanded[] = [];
  for (const token of tokens) {
    if (typeof token === 'string') expanded.push(token);
    else if ('variable' in token) {
      const values = lookup(token.variable);
      if (values?.length !== 1) return undefined;
      const value = values[0] ?? '';
      spend(value.length);
      for (const character of value.split('')) expanded.push(character);
    } else expanded.push('any' in token ? ANY : ONE);
  }
  return expanded;
}

/** Goes back to the last star only, so that no pattern takes longer than its length times that of the text. */
function glob(tokens: readonly Expanded[], text: string): boolean {
  let token = 0;
  let star = -1;
  let retry = 0;
  for (let at = 0; at < text.length;) {
    const here = tokens[token];
    spend(1);
    if (here === ANY) {
      star = token++;
      retry = at;
      if (token === tokens.length) return true;
    } else if (here === ONE || here === text[at]) {
      token++;
      at++;
    } else if (star !== -1) {
      token = star + 1;
      at = ++retry;
    } else return false;
  }
  while (tokens[token] === ANY) token++;
  return token === tokens.length;
}
