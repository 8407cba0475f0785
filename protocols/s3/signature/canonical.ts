import { hash } from 'node:crypto';
import type { Address } from '../address.ts';

export interface SignedParts {
  readonly method: string;
  readonly address: Pick<Address, 'canonicalPath' | 'query'>;
  /** As they came: name, value, name, value. */
  readonly rawHeaders: readonly string[];
}

/** SHA-256, in hex, of what Signature V4 calls the canonical request. */
export function canonicalDigest(
  parts: SignedParts,
  signedHeaders: readonly string[],
  payload: string,
  withoutParameter?: string,
): string {
  const query = parts.address.query.canonical(withoutParameter);
  const headers = canonicalHeaders(parts.rawHeaders, signedHeaders);
  const text = `${parts.method}\n${parts.address.canonicalPath}\n${query}\n${headers}\n${signedHeaders.join(';')}\n${payload}`;
  // Values of headers are bytes to the client and Latin-1 to Node.
  return hash('sha256', Buffer.from(text, 'latin1'));
}

/** Values that come in several lines are joined by commas; runs of spaces count as one. */
function canonicalHeaders(rawHeaders: readonly string[], names: readonly string[]): string {
  const values = new Map<string, string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (!names.includes(name)) continue;
    const value = normalizeSpaces(rawHeaders[at + 1] ?? '');
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before},${value}`);
  }
  let text = '';
  for (const name of names) text += `${name}:${values.get(name) ?? ''}\n`;
  return text;
}

function normalizeSpaces(value: string): string {
  const trimmed = value.trim();
  return trimmed.includes('  ') ? trimmed.replace(/ {2,}/g, ' ') : trimmed;
}

/** Headers that mean something to S3 and must not be slipped in by others than the signer. */
export function unsignedHeaders(rawHeaders: readonly string[], signed: readonly string[]): string[] {
  const found: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (name.startsWith('x-amz-') && !signed.includes(name)) found.push(name);
  }
  return found;
}
