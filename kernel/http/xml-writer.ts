import type { TSchema } from 'typebox';
import { NO_XML_CHARACTER, XML_DECLARATION, xmlEscaper } from '../xml/escape.ts';
import { fieldShape, itemShape, shapeOf, type Shape } from './shape.ts';

/** A bare carriage return would reach the reader as a line feed. */
const escapeText = xmlEscaper(new RegExp(`[&<>\\r${NO_XML_CHARACTER}]`), (character) =>
  character === '\r' ? '&#13;' : '\ufffd',
);

/** Written by hand: several times faster than a general builder, and the shape is ours alone. */
export function writeXml(root: string, value: Readonly<Record<string, unknown>>, schema?: TSchema): string {
  return `${XML_DECLARATION}${element(root, value, shapeOf(schema))}\n`;
}

/** `storage_policies` holds `storage_policy` elements. */
export function singular(name: string): string {
  if (name.endsWith('ies')) return `${name.slice(0, -3)}y`;
  if (name.endsWith('sses')) return name.slice(0, -2);
  return name.endsWith('s') && !name.endsWith('ss') ? name.slice(0, -1) : `${name}_item`;
}

function element(name: string, value: unknown, shape: Shape | undefined): string {
  return elementOf(tagName(name), name, value, shape);
}

function elementOf(tag: string, name: string, value: unknown, shape: Shape | undefined): string {
  if (value === null || value === undefined) return `<${tag}${declaredType(shape)} nil="true"/>`;
  if (Array.isArray(value)) {
    const [item, each] = [singular(name), itemShape(shape)];
    return `<${tag} type="array">${value.map((one) => element(item, one, each)).join('')}</${tag}>`;
  }
  if (typeof value === 'object') return `<${tag}>${fields(value, shape)}</${tag}>`;
  const leaf = value as string | number | boolean;
  return `<${tag}${typeAttribute(leaf, shape)}>${escapeText(String(leaf))}</${tag}>`;
}

/** As in JSON, a field without a value is left out. */
function fields(value: object, shape: Shape | undefined): string {
  let text = '';
  for (const [key, field] of Object.entries(value)) {
    if (field === undefined) continue;
    const tag = isMapKey(shape, key) ? allowedName(key) : tagName(key);
    text += elementOf(tag, key, field, fieldShape(shape, key));
  }
  return text;
}

const TYPES: Readonly<Record<string, string>> = {
  boolean: ' type="boolean"',
  integer: ' type="integer"',
  number: ' type="float"',
  array: ' type="array"',
};

/** As the contract declares the field: a price of 2 is a `float` as one of 2.5 is. What it does not declare goes by its value. */
function typeAttribute(value: string | number | boolean, shape: Shape | undefined): string {
  if (shape?.type !== undefined && shape.type !== 'array' && shape.const === undefined) return declaredType(shape);
  if (typeof value === 'boolean') return ' type="boolean"';
  if (typeof value === 'number') return Number.isInteger(value) ? ' type="integer"' : ' type="float"';
  return '';
}

function declaredType(shape: Shape | undefined): string {
  if (shape?.format === 'utc' || shape?.format === 'iso') return ' type="datetime"';
  return TYPES[shape?.type ?? ''] ?? '';
}

/** Keys of maps are data: they are written as they are, as far as XML allows. */
function isMapKey(shape: Shape | undefined, key: string): boolean {
  return shape?.patternProperties !== undefined && !(shape.properties && Object.hasOwn(shape.properties, key));
}

function tagName(name: string): string {
  return allowedName(name.replaceAll('_', '-'));
}

/** A name that XML does not allow becomes one it does. */
function allowedName(name: string): string {
  const allowed = name.replace(/[^A-Za-z0-9_.-]/g, '-');
  return /^[A-Za-z_]/.test(allowed) ? allowed : `n${allowed}`;
}
