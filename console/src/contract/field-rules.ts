import type { AnyInput } from '../api/operations.ts';

/** What a page knows of a field beyond its declaration. */
export interface FieldRule {
  /** In place of what the declaration says. */
  readonly hint?: string;
  /** Why a text cannot be taken, in words. */
  readonly check?: (text: string) => string | undefined;
  /** How it is sent. */
  readonly send?: (text: string) => string;
}

export type FieldRules = Readonly<Record<string, FieldRule>>;

const SCHEME = /^https?:\/\//i;

/** `host:port`, and what a browser has in its address bar. */
export const hostAndPort: FieldRule = {
  check: (text) =>
    /^[^\s/?#@]+$/.test(withoutScheme(text)) ? undefined : 'Type the host and the port only, such as 10.0.0.9:8443.',
  send: withoutScheme,
};

function withoutScheme(text: string): string {
  return text.trim().replace(SCHEME, '').replace(/\/$/, '');
}

const KEPT_MAX = 10_000;

/** Of a snapshot policy: a number, which the API has as `N24`. */
export const keptNumber: FieldRule = {
  hint: 'The newest are kept; empty keeps all.',
  check: (text) => {
    const number = Number(/^N?([0-9]{1,6})$/i.exec(text.trim())?.[1]);
    if (Number.isNaN(number)) return 'Must be a whole number such as 24, or empty.';
    return number >= 1 && number <= KEPT_MAX ? undefined : 'Must be from 1 to 10,000, or empty to keep all.';
  },
  send: (text) => text.trim().replace(/^N?/i, 'N'),
};

export function checkedBy(rules: FieldRules, given: AnyInput): Map<string, string> {
  return new Map(
    Object.entries(rules).flatMap(([name, { check }]) => {
      const value = given[name];
      const problem = typeof value === 'string' && value !== '' ? check?.(value) : undefined;
      return problem === undefined ? [] : [[name, problem] as const];
    }),
  );
}

export function asSent(rules: FieldRules, given: AnyInput): AnyInput {
  const sent = Object.entries(given).map(([name, value]) => {
    const send = rules[name]?.send;
    return [name, send && typeof value === 'string' && value !== '' ? send(value) : value] as const;
  });
  return Object.fromEntries(sent);
}
