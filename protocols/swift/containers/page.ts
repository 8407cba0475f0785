import type { Query } from '../request/address.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import { isTrue } from '../request/text.ts';

export const LISTING_LIMIT = 10_000;

/** What part of a listing is asked for. It begins after `after` and ends before `before`, whichever way it runs. */
export interface Page {
  readonly limit: number;
  readonly prefix: string;
  readonly delimiter: string | null;
  readonly after: string | null;
  readonly before: string | null;
  readonly reverse: boolean;
}

function limitOf(query: Query): number {
  const text = query.get('limit');
  // As in Swift: what is no number limits nothing.
  if (text === undefined || !/^\d+$/.test(text)) return LISTING_LIMIT;
  if (Number(text) > LISTING_LIMIT) throw new SwiftRefusal(412, `Maximum limit is ${LISTING_LIMIT}`);
  return Number(text);
}

function bound(query: Query, name: string): string | null {
  const value = query.get(name);
  return value === undefined || value === '' ? null : value;
}

export function pageOf(query: Query): Page {
  return {
    limit: limitOf(query),
    prefix: query.get('prefix') ?? '',
    delimiter: bound(query, 'delimiter'),
    after: bound(query, 'marker'),
    before: bound(query, 'end_marker'),
    reverse: isTrue(query.get('reverse')),
  };
}

/** Names in the order of their UTF-8 bytes, which UTF-16 differs from above U+D800. */
export function compareNames(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above all others. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
