import qs from 'qs';
import { badParameter } from '../errors.ts';

export type Raw = Record<string, unknown>;

export const NONE: Raw = Object.freeze({});

const QUERY_PARAMETERS_MAX = 1_000;
const DEPTH_MAX = 5;
const LIST_LENGTH_MAX = 1_000;
/** A percent sign without two hex digits. Decoding it would throw each time. */
const BROKEN_ESCAPE = /%(?![\da-f]{2})/i;

/** `name[]=a`, `quotas[0][source_id]=7`: nesting as forms write it, within limits. */
export function parseForm(text: string, field: string, parametersMax: number): Raw {
  if (text.trim() === '') return NONE;
  if (countParameters(text) > parametersMax) throw tooMany(field, parametersMax);
  return read(text, parametersMax);
}

/**
 * The query is parsed before the request is handled, so parameters beyond the limit are dropped here and refused later.
 */
export function parseQuery(text: string): Raw {
  return text === '' ? NONE : read(text, QUERY_PARAMETERS_MAX);
}

export function checkQuery(url: string): void {
  const mark = url.indexOf('?');
  if (mark !== -1 && countParameters(url, mark) > QUERY_PARAMETERS_MAX) throw tooMany('query', QUERY_PARAMETERS_MAX);
}

function read(text: string, parameterLimit: number): Raw {
  return qs.parse(text, { depth: DEPTH_MAX, arrayLimit: LIST_LENGTH_MAX, parameterLimit, decoder: decode });
}

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%') || BROKEN_ESCAPE.test(spaced)) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

function countParameters(text: string, from = 0): number {
  let count = 1;
  for (let at = text.indexOf('&', from); at !== -1; at = text.indexOf('&', at + 1)) count += 1;
  return count;
}

function tooMany(field: string, max: number): Error {
  return badParameter(field, `must have at most ${max} parameters`);
}
