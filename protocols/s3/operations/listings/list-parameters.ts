import { encodePath, isPlainPath } from '../../address.ts';
import { badArgument } from '../../errors.ts';
import type { S3Query } from '../../request.ts';
import { escapeXml, needsEscape } from '../../xml.ts';

export const MOST_LISTED = 1000;

/** A number of entries: more than can be listed at once is no error, only less is answered. */
export function countOf(query: S3Query, name: string, most: number, least = 0): number {
  const text = query.get(name);
  if (text === undefined || text === '') return most;
  const count = /^\d{1,10}$/.test(text) ? Number(text) : -1;
  if (count < least || count > 2_147_483_647) {
    throw badArgument(name, text, `${name} must be an integer from ${least} to 2147483647.`);
  }
  return Math.min(count, most);
}

/** How keys are written in the answer. Keys may hold what XML cannot, so clients may ask for them percent-encoded. */
export interface KeyText {
  (key: string): string;
  readonly type: 'url' | undefined;
  /** Of many, as XML. */
  all(keys: readonly string[]): readonly string[];
}

const PLAIN: KeyText = Object.assign((key: string) => key, {
  type: undefined,
  // One look at all of them: mostly none has anything to escape.
  all: (keys: readonly string[]) => (needsEscape(keys.join('')) ? keys.map(escapeXml) : keys),
});

const URL_TEXT: KeyText = Object.assign(encodePath, {
  type: 'url' as const,
  all: (keys: readonly string[]) => (isPlainPath(keys.join('')) ? keys : keys.map(encodePath)),
});

export function keyText(query: S3Query): KeyText {
  const type = query.get('encoding-type');
  if (type === undefined || type === '') return PLAIN;
  if (type.toLowerCase() !== 'url') throw badArgument('encoding-type', type, 'The only encoding is url.');
  return URL_TEXT;
}

/** Empty is the same as not given. */
export function given(query: S3Query, name: string): string | null {
  const text = query.get(name);
  return text === undefined || text === '' ? null : text;
}

/** Where a listing goes on, as clients hand it back. They are not to read it, so it does not look readable. */
export function tokenOf(after: string): string {
  return Buffer.from(after, 'utf8').toString('base64url');
}

export function afterToken(query: S3Query): string | null {
  const token = query.get('continuation-token');
  if (token === undefined || token === '') return null;
  const text = Buffer.from(token, 'base64url').toString('utf8');
  if (text === '' || tokenOf(text) !== token) {
    throw badArgument('continuation-token', token, 'The continuation token is not one of ours.');
  }
  return text;
}
