import { NO_XML_CHARACTER, XML_DECLARATION, xmlEscaper } from '@granary/kernel/xml';
import type { Format } from '../request/request.ts';

/** One line of a listing: values by the names that JSON and XML use. */
export type Entry = Readonly<Record<string, string | number | boolean | null>>;

export interface Shape {
  /** Element around the listing: `container`. */
  readonly root: string;
  readonly name: string;
  /** Element of an entry: `object`. */
  readonly entry: string;
}

/** ISO 8601 with microseconds and no zone, as Swift writes times in listings. */
export function listedTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, -1)}000`;
}

const xmlText = xmlEscaper(new RegExp(`[&<>"'${NO_XML_CHARACTER}]`), (character) =>
  character === "'" ? '&#39;' : '\ufffd',
);

function xmlEntry(shape: Shape, entry: Entry): string {
  if (typeof entry['subdir'] === 'string') {
    const name = xmlText(entry['subdir']);
    return `<subdir name="${name}"><name>${name}</name></subdir>`;
  }
  const fields = Object.entries(entry).map(([name, value]) => `<${name}>${xmlText(String(value))}</${name}>`);
  return `<${shape.entry}>${fields.join('')}</${shape.entry}>`;
}

export function writeListing(format: Format, shape: Shape, entries: readonly Entry[]): string {
  if (format === 'json') return JSON.stringify(entries);
  if (format === 'plain') return entries.map((entry) => `${String(entry['subdir'] ?? entry['name'])}\n`).join('');
  const body = entries.map((entry) => xmlEntry(shape, entry)).join('');
  return `${XML_DECLARATION}<${shape.root} name="${xmlText(shape.name)}">${body}</${shape.root}>`;
}
