import { splitObjectPath } from '../request/address.ts';
import { SwiftRefusal } from '../request/refusal.ts';

export const MAX_SEGMENTS = 1000;
const PROBLEMS_MAX = 100;
const KEYS: readonly string[] = ['path', 'etag', 'size_bytes', 'range'];
/** Bytes that stand in the manifest itself have nothing beside them. */
const DATA_KEYS: readonly string[] = ['data'];

/** An entry that carries its bytes itself. */
export interface InlineData {
  readonly data: Buffer;
}

/** An entry of a manifest as clients put it. What is null or absent is not checked. */
export interface AskedSegment {
  readonly container: string;
  readonly object: string;
  readonly etag: string | null;
  readonly size: number | null;
  /** `first-last`, `first-` or `-length`. */
  readonly range: string | null;
}

type Json = Readonly<Record<string, unknown>>;

function fail(index: number, message: string): never {
  throw new SwiftRefusal(400, `Index ${index}: ${message}`);
}

function readSize(index: number, value: unknown): number | null {
  if (value === undefined || value === null) return null;
  const size = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) return fail(index, 'invalid size_bytes');
  if (size < 1) return fail(index, 'too small; each segment must be at least 1 byte.');
  return size;
}

function readEtag(index: number, value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string' || value.length > 256) return fail(index, 'etag must be a string');
  return value.replaceAll('"', '').toLowerCase();
}

function readRange(index: number, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const text = typeof value === 'string' ? value.trim() : '';
  const [, first, last] = /^(\d{0,15})-(\d{0,15})$/.exec(text) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return fail(index, 'invalid range');
  if (first !== '' && last !== '' && Number(first) > Number(last)) return fail(index, 'invalid range');
  return text;
}

function readData(index: number, value: unknown): InlineData {
  // One class of characters: repeated groups of four would take a stack as deep as megabytes of them are long.
  if (typeof value !== 'string' || value.length % 4 !== 0 || !/^[\w+/-]*={0,2}$/.test(value)) {
    return fail(index, 'data must be valid base64');
  }
  const data = Buffer.from(value, 'base64');
  if (data.length < 1) return fail(index, 'too small; each segment must be at least 1 byte.');
  return { data };
}

function readSegment(entry: unknown, index: number): AskedSegment | InlineData {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return fail(index, 'not a JSON object');
  const json = entry as Json;
  const known = 'data' in json ? DATA_KEYS : KEYS;
  const unknown = Object.keys(json).filter((key) => !known.includes(key));
  if (unknown.length > 0) return fail(index, `extraneous keys ${unknown.slice(0, 5).join(', ')}`);
  if ('data' in json) return readData(index, json['data']);
  const path = typeof json['path'] === 'string' ? splitObjectPath(json['path']) : undefined;
  if (path === undefined)
    return fail(index, 'path does not refer to an object. Path must be of the form /container/object.');
  return {
    ...path,
    etag: readEtag(index, json['etag']),
    size: readSize(index, json['size_bytes']),
    range: readRange(index, json['range']),
  };
}

/** What is wrong with entries is said of all of them at once. */
function readSegments(entries: readonly unknown[]): readonly (AskedSegment | InlineData)[] {
  const problems: string[] = [];
  const segments: (AskedSegment | InlineData)[] = [];
  for (const [index, entry] of entries.entries()) {
    try {
      segments.push(readSegment(entry, index));
    } catch (error) {
      if (!(error instanceof SwiftRefusal)) throw error;
      problems.push(error.message);
    }
  }
  if (problems.length > 0) throw new SwiftRefusal(400, problems.slice(0, PROBLEMS_MAX).join('\n'));
  return segments;
}

export function parseManifest(text: string): readonly (AskedSegment | InlineData)[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new SwiftRefusal(400, 'Manifest must be valid JSON.');
  }
  if (!Array.isArray(json)) throw new SwiftRefusal(400, 'Manifest must be a list.');
  if (json.length === 0) throw new SwiftRefusal(400, 'Manifest must have at least one segment.');
  if (json.length > MAX_SEGMENTS) throw new SwiftRefusal(413, `Number of segments must be <= ${MAX_SEGMENTS}`);
  const segments = readSegments(json);
  if (segments.every((segment) => 'data' in segment)) {
    throw new SwiftRefusal(400, 'Inline data segments require at least one object-backed segment.');
  }
  return segments;
}
