import type { OutgoingHttpHeaders } from 'node:http';
import { SwiftRefusal } from './refusal.ts';
import type { SwiftRequest } from './request.ts';
import { byteLength, headerValue, titleCase } from './text.ts';

export const METADATA_LIMITS = { names: 90, name: 128, value: 256, all: 4096 } as const;

type Metadata = Readonly<Record<string, string>>;

/** What is kept must fit, whatever a single request adds to it. */
export function checkMetadata(metadata: Metadata): void {
  let names = 0;
  let all = 0;
  for (const [name, value] of Object.entries(metadata)) {
    const length = byteLength(value);
    if (name === '') throw new SwiftRefusal(400, 'Metadata name cannot be empty');
    if (name.length > METADATA_LIMITS.name) throw new SwiftRefusal(400, `Metadata name too long: ${name}`);
    if (length > METADATA_LIMITS.value) {
      throw new SwiftRefusal(400, `Metadata value longer than ${METADATA_LIMITS.value}: ${name}`);
    }
    names += 1;
    all += name.length + length;
  }
  if (names > METADATA_LIMITS.names)
    throw new SwiftRefusal(400, `Too many metadata items; max ${METADATA_LIMITS.names}`);
  if (all > METADATA_LIMITS.all) throw new SwiftRefusal(400, `Total metadata too large; max ${METADATA_LIMITS.all}`);
}

/** What a request changes in metadata: an empty value, or `X-Remove-…`, removes (null). */
export function metadataChanges(request: SwiftRequest, level: 'account' | 'container'): Map<string, string | null> {
  const changes = new Map<string, string | null>();
  for (const name of request.headersWith(`x-remove-${level}-meta-`).keys()) changes.set(name, null);
  for (const [name, value] of request.headersWith(`x-${level}-meta-`)) changes.set(name, value === '' ? null : value);
  return changes;
}

export function applyChanges(metadata: Metadata, changes: ReadonlyMap<string, string | null>): Metadata {
  const result = new Map(Object.entries(metadata));
  for (const [name, value] of changes) {
    if (value === null) result.delete(name);
    else result.set(name, value);
  }
  const applied = Object.fromEntries(result);
  checkMetadata(applied);
  return applied;
}

/** `hidden` names are left out. */
export function metadataHeaders(
  prefix: string,
  metadata: Metadata | undefined,
  hidden: readonly string[] = [],
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(metadata ?? {})) {
    // Other protocols may keep names that cannot be a header's.
    if (/^[\w!#$%&'*+.^`|~-]+$/.test(name) && !hidden.includes(name)) {
      headers[prefix + titleCase(name)] = headerValue(value);
    }
  }
  return headers;
}

/** Only owners see these. */
export const OWNERS_METADATA: readonly string[] = ['temp-url-key', 'temp-url-key-2'];

/** Seconds since 1970 with five digits behind the point, as Swift writes times. */
export function timestamp(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(5).padStart(16, '0');
}
