import type { Acl, AttributeChanges, TimeChange } from '../../filesystem.ts';
import { XdrError, XdrReader } from '../../xdr/reader.ts';
import { Nfs4Error, Status4 } from '../status.ts';
import { aclOfAces, readAces, type Ace } from './acl.ts';
import { Attribute } from './attribute.ts';
import { Bitmap } from './bitmap.ts';
import { isSettable, supportedAttributes } from './encode.ts';
import { idOf, type Identities } from './identities.ts';

const ATTRIBUTE_BYTES_MAX = 64 * 1024;
const OWNER_BYTES_MAX = 1024;
const MODE_BITS = 0o7777;

export interface EncodedAttributes {
  readonly bitmap: Bitmap;
  readonly bytes: Buffer;
}

/** What a client wants to set. */
export interface WantedAttributes {
  readonly bitmap: Bitmap;
  readonly changes: AttributeChanges;
  readonly aces: readonly Ace[] | undefined;
}

export function readEncoded(args: XdrReader): EncodedAttributes {
  return { bitmap: Bitmap.read(args), bytes: args.opaque(ATTRIBUTE_BYTES_MAX) };
}

function readTimeChange(args: XdrReader): TimeChange {
  const how = args.u32();
  if (how === 0) return 'now';
  if (how !== 1) throw new XdrError(`${how} is no way to set a time`);
  const [seconds, nanoseconds] = [args.i64AsNumber(), args.u32()];
  if (nanoseconds > 999_999_999 || !Number.isSafeInteger(seconds)) throw new Nfs4Error(Status4.invalid);
  return { seconds, nanoseconds };
}

export async function decodeAttributes(
  { bitmap, bytes }: EncodedAttributes,
  minorVersion: number,
  identities: Identities,
): Promise<WantedAttributes> {
  const supported = supportedAttributes(minorVersion);
  const args = new XdrReader(bytes);
  const changes: { -readonly [Name in keyof AttributeChanges]: AttributeChanges[Name] } = {};
  let aces: Ace[] | undefined;
  for (const number of bitmap.numbers()) {
    if (!supported.has(number)) throw new Nfs4Error(Status4.attributeNotSupported);
    if (!isSettable(number)) throw new Nfs4Error(Status4.invalid);
    if (number === Attribute.size) changes.sizeBytes = args.size();
    else if (number === Attribute.acl) aces = readAces(args);
    else if (number === Attribute.mode) changes.mode = args.u32() & MODE_BITS;
    else if (number === Attribute.owner) changes.uid = await idOf(identities, 'user', args.text(OWNER_BYTES_MAX));
    else if (number === Attribute.ownerGroup) changes.gid = await idOf(identities, 'group', args.text(OWNER_BYTES_MAX));
    else if (number === Attribute.setAccessed) changes.accessed = readTimeChange(args);
    else changes.modified = readTimeChange(args);
  }
  if (args.remaining > 0) throw new XdrError('more attributes than were announced');
  return { bitmap, changes, aces };
}

export function aclFrom(aces: readonly Ace[], isDirectory: boolean, identities: Identities): Promise<Acl> {
  return aclOfAces(aces, isDirectory, identities);
}
