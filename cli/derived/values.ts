import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Param, ParamKind } from '@granary/contract';

/** A value ready to be sent, or what is wrong with its text. */
export type Reading = { readonly value: unknown } | { readonly problem: string };

type Reader = (text: string, param: Param) => Reading;

const readers: Readonly<Record<ParamKind, Reader>> = {
  text: readText,
  integer: readInteger,
  number: (text) => readNumber(text, /^[+-]?\d{1,15}(\.\d+)?$/, 'must be a number'),
  boolean: readBoolean,
  list: (text, param) => readList([text], param),
  json: readStructure,
  capacity: readCapacity,
  file: readFile,
};

/**
 * From what one types to what the API takes. Only the form is looked at: ranges, patterns and what else a value must
 * be is checked by the service, in one place.
 */
export function readValue(text: string, param: Param): Reading {
  return readers[param.kind](text, param);
}

/** A list may be one text with commas, several texts, or JSON. */
export function readList(texts: readonly string[], param: Param): Reading {
  const items: unknown[] = [];
  for (const text of texts.flatMap(splitList)) {
    const reading = typeof text === 'string' && param.item ? readValue(text, param.item) : { value: text };
    if ('problem' in reading) return { problem: `holds '${String(text)}', which ${reading.problem}` };
    items.push(reading.value);
  }
  return { value: items };
}

/** What a parameter may be, where it is one of a few. */
export function allowedValues(param: Param): readonly string[] | undefined {
  return (param.schema as { enum?: readonly string[] }).enum;
}

function readText(text: string, param: Param): Reading {
  const allowed = allowedValues(param);
  if (allowed && !allowed.includes(text)) return { problem: `must be one of ${allowed.join(', ')}` };
  return { value: text };
}

function readNumber(text: string, form: RegExp, problem: string): Reading {
  return form.test(text.trim()) ? { value: Number(text) } : { problem };
}

/** A number of GB may be given as a size, as where the API takes one. */
function readInteger(text: string, { description }: Param): Reading {
  const mebibytes = countsGigabytes(description) ? mebibytesOf(text) : undefined;
  if (mebibytes === undefined || /^\s*[+-]?\d+\s*$/.test(text))
    return readNumber(text, /^[+-]?\d{1,15}$/, 'must be a whole number');
  return mebibytes % 1024 === 0 ? { value: mebibytes / 1024 } : { problem: 'must be a whole number of GB' };
}

function countsGigabytes(description: string): boolean {
  return /\bGB\b/.test(description) && !/ a second\b/.test(description);
}

function readBoolean(text: string): Reading {
  if (/^(true|yes|on|1)$/i.test(text)) return { value: true };
  if (/^(false|no|off|0)$/i.test(text)) return { value: false };
  return { problem: 'must be true or false' };
}

function splitList(text: string): unknown[] {
  // `--kinds ''`: none.
  if (text.trim() === '') return [];
  const parsed = text.trim().startsWith('[') ? parseJson(text) : undefined;
  if (Array.isArray(parsed)) return parsed;
  return text.split(',').map((item) => item.trim());
}

function readStructure(text: string, param: Param): Reading {
  if (/^\s*[[{]/.test(text)) {
    const value = parseJson(text);
    return value === undefined ? { problem: 'is not valid JSON' } : { value };
  }
  const pairs = readPairs(text);
  const isList = (param.schema as { type?: string }).type === 'array';
  // Most lists of records hold one.
  return isList && 'value' in pairs ? { value: [pairs.value] } : pairs;
}

/** `SSD_10GB=2,SSD_100GB=1` is short for `{"SSD_10GB": 2, "SSD_100GB": 1}`. */
function readPairs(text: string): Reading {
  const pairs = text.split(',').map((pair) => /^\s*([^=]*[^=\s])\s*=(.*)$/s.exec(pair));
  const entries: [string, unknown][] = [];
  for (const pair of pairs) {
    const [, key, value = ''] = pair ?? [];
    if (key === undefined) return { problem: 'must be key=value,key=value or JSON' };
    if (entries.some(([known]) => known === key)) return { problem: `names ${key} twice` };
    entries.push([key, /^\s*-?\d{1,15}(\.\d+)?\s*$/.test(value) ? Number(value) : value.trim()]);
  }
  return { value: Object.fromEntries(entries) };
}

function readCapacity(text: string): Reading {
  if (mebibytesOf(text) !== undefined) return { value: text.trim() };
  return { problem: 'must be a capacity such as 10G, 2T or 512M' };
}

const MEBIBYTES: Readonly<Record<string, number>> = { M: 1, G: 1024, T: 1024 ** 2 };

/** As the service reads it: units of 1024 however they are written, a bare number is GB, and what is over is rounded up. */
export function mebibytesOf(text: string): number | undefined {
  const [, amount, unit = 'G'] = /^\s*(\d{1,12}(?:\.\d{1,20})?)\s*(?:([MGT])(?:i?B)?)?\s*$/i.exec(text) ?? [];
  const factor = MEBIBYTES[unit.toUpperCase()];
  return amount === undefined || factor === undefined ? undefined : Math.ceil(Number(amount) * factor);
}

function readFile(path: string): Reading {
  try {
    return { value: { filename: basename(path), bytes: readFileSync(path) } };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: code === 'ENOENT' ? `names ${path}, which does not exist` : `cannot be read (${code})` };
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
