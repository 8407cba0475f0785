import type { Param, ParamKind, UploadedFile } from '@granary/contract';
import { fieldShape, itemShape, shapeOf, type Shape } from './shape.ts';

/** A value, or the problem with it. */
export type Coerced = { readonly value: unknown } | { readonly problem: string };

type Coercion = (raw: unknown, param: Param) => Coerced;

const YES = new Set(['true', '1', 'yes', 'on']);
const NO = new Set(['false', '0', 'no', 'off']);
const MEGABYTES: Readonly<Record<string, number>> = { M: 1, G: 1024, T: 1024 * 1024 };
const DEPTH_MAX = 32;
/** No longer value is compared in another case. */
const ENUM_LENGTH_MAX = 256;

const toInteger = (raw: unknown) => toNumber(raw, /^[+-]?\d{1,64}$/, 'must be a whole number');
const toDecimal = (raw: unknown) => toNumber(raw, /^[+-]?\d{1,32}(\.\d{1,31})?$/, 'must be a number');

const coercions: Readonly<Record<ParamKind, Coercion>> = {
  text: toText,
  integer: toInteger,
  number: toDecimal,
  boolean: toBoolean,
  list: toList,
  json: toStructure,
  capacity: toMegabytes,
  file: toFile,
};

/** The same for what is inside a structure, by the type its schema names. */
const leaves: Readonly<Record<string, (raw: unknown) => Coerced>> = {
  string: (raw) => ({ value: String(raw) }),
  integer: toInteger,
  number: toDecimal,
  boolean: toBoolean,
};

/** Converts a value of a form, JSON or XML to the parameter's type. */
export function coerce(raw: unknown, param: Param): Coerced {
  return coercions[param.kind](raw, param);
}

function toText(raw: unknown, param: Param): Coerced {
  if (typeof raw !== 'string' && typeof raw !== 'number' && typeof raw !== 'boolean')
    return { problem: 'must be text' };
  const value = String(raw);
  const flaw = flawOfText(value);
  if (flaw !== undefined) return { problem: flaw };
  // Before the schema counts characters one by one: a megabyte is refused without a scan.
  const { maxLength } = param.schema as { maxLength?: number };
  if (maxLength !== undefined && value.length > maxLength * 2)
    return { problem: `must have at most ${maxLength} characters` };
  return { value: spelled(value, param.schema) };
}

/** Values of enumerations as they are declared: clients may send them in any case, and with dashes as XML has them. */
function spelled(value: string, { enum: values }: Shape): string {
  if (!values || value.length > ENUM_LENGTH_MAX || values.includes(value)) return value;
  const plain = plainly(value);
  return values.find((one) => plainly(one) === plain) ?? value;
}

function plainly(value: string): string {
  return value.toLowerCase().replaceAll('_', '-');
}

function toNumber(raw: unknown, form: RegExp, problem: string): Coerced {
  if (typeof raw === 'number') return Number.isFinite(raw) ? { value: raw } : { problem };
  const text = shortText(raw);
  return form.test(text) ? { value: Number(text) } : { problem };
}

function toBoolean(raw: unknown): Coerced {
  if (typeof raw === 'boolean') return { value: raw };
  const text = shortText(raw).toLowerCase();
  if (YES.has(text)) return { value: true };
  if (NO.has(text)) return { value: false };
  return { problem: 'must be true or false (also YES/NO, 1/0, on/off)' };
}

function toList(raw: unknown, param: Param): Coerced {
  const items = itemsOf(raw);
  if (!items) return { problem: 'must be a list' };
  const { maxItems = Infinity } = param.schema as { maxItems?: number };
  if (items.length > maxItems) return { problem: `must have at most ${maxItems} items` };
  const values: unknown[] = [];
  for (const [index, item] of items.entries()) {
    const coerced = param.item ? coerce(item, param.item) : { value: item };
    if ('problem' in coerced) return { problem: `item ${index + 1} ${coerced.problem}` };
    values.push(coerced.value);
  }
  return { value: values };
}

function itemsOf(raw: unknown): unknown[] | undefined {
  if (Array.isArray(raw)) return raw as unknown[];
  if (typeof raw === 'number') return [raw];
  if (typeof raw === 'string') {
    const text = raw.trim();
    if (text.startsWith('[')) return parseJson(text) as unknown[] | undefined;
    return text.split(',').map((item) => item.trim());
  }
  // `name[0]=a` past qs's own list limit, or numbered keys of a JSON body.
  if (typeof raw === 'object' && raw !== null && Object.keys(raw).every((key) => /^\d+$/.test(key)))
    return Object.values(raw as Record<string, unknown>);
  return undefined;
}

function toStructure(raw: unknown, param: Param): Coerced {
  const value = typeof raw === 'string' ? parseJson(raw) : raw;
  if (typeof value !== 'object' || value === null) return { problem: 'must be JSON' };
  const flaw = flawIn(value, DEPTH_MAX);
  return flaw === undefined ? { value: shaped(value, shapeOf(param.schema)) } : { problem: flaw };
}

/** Forms and XML carry every leaf as text; the schema says which are numbers and booleans. */
function shaped(value: unknown, shape: Shape | undefined): unknown {
  if (value === null) return null;
  if (typeof value !== 'object') {
    if (typeof value === 'string' && shape?.enum) return spelled(value, shape);
    const coerced = leaves[shape?.type ?? '']?.(value);
    return coerced && 'value' in coerced ? coerced.value : value;
  }
  const items = Array.isArray(value) || shape?.type === 'array' ? itemsOf(value) : undefined;
  if (items) return items.map((item) => shaped(item, itemShape(shape)));
  const fields = Object.entries(value).filter(([key]) => key !== '__proto__');
  return Object.fromEntries(fields.map(([key, field]) => [key, shaped(field, fieldShape(shape, key))]));
}

function flawIn(value: unknown, levels: number): string | undefined {
  if (typeof value === 'string') return flawOfText(value);
  if (typeof value !== 'object' || value === null) return undefined;
  if (ArrayBuffer.isView(value)) return 'must not be a file';
  if (levels === 0) return `must not be nested deeper than ${DEPTH_MAX} levels`;
  for (const [key, part] of Object.entries(value)) {
    const flaw = flawOfText(key) ?? flawIn(part, levels - 1);
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

function flawOfText(text: string): string | undefined {
  if (text.includes('\0')) return 'must not hold a NUL character';
  return text.isWellFormed() ? undefined : 'must be well-formed Unicode';
}

/** The text of numbers, booleans and capacities; a long text is none of them. */
function shortText(raw: unknown): string {
  return (typeof raw === 'string' && raw.length <= 64) || typeof raw === 'number' ? String(raw).trim() : '';
}

function toMegabytes(raw: unknown): Coerced {
  const match = /^(\d{1,12}(?:\.\d{1,20})?)\s*(?:([MGT])(?:i?B)?)?$/i.exec(shortText(raw));
  if (!match) return { problem: 'must be a capacity such as 10G, 2T or 512M' };
  // Records show fractions of a GB, and clients compute with them: rounded up, never less than was requested.
  return { value: Math.ceil(Number(match[1]) * (MEGABYTES[(match[2] ?? 'G').toUpperCase()] as number)) };
}

function toFile(raw: unknown): Coerced {
  const file = raw as Partial<UploadedFile> | null;
  if (typeof file !== 'object' || !(file?.bytes instanceof Uint8Array)) return { problem: 'must be an uploaded file' };
  return { value: file };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
