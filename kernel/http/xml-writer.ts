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
  const tag = tagName(name);
  if (value === null || value === undefined) return `<${tag} nil="true"/>`;
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
    if (field !== undefined) text += element(key, field, fieldShape(shape, key));
  }
  return text;
}

function typeAttribute(value: string | number | boolean, shape: Shape | undefined): string {
  if (typeof value === 'boolean') return ' type="boolean"';
  if (typeof value === 'number') return Number.isInteger(value) ? ' type="integer"' : ' type="float"';
  return shape?.format === 'utc' || shape?.format === 'iso' ? ' type="datetime"' : '';
}

/** Keys of maps may hold anything; a name XML does not allow becomes one it does. */
function tagName(name: string): string {
  const dashed = name.replaceAll('_', '-').replace(/[^A-Za-z0-9.-]/g, '-');
  return /^[A-Za-z]/.test(dashed) ? dashed : `n${dashed}`;
}
