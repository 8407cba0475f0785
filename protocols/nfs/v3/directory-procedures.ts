import type { Attributes } from '../filesystem.ts';
import { moved, type Place } from '../namespace/namespace.ts';
import { padded } from '../xdr/reader.ts';
import { HANDLE_BYTES } from '../namespace/file-handle.ts';
import type { Procedure3, Request3 } from './procedure.ts';
import { Nfs3Error, Status3 } from './status.ts';

const VERIFIER_BYTES = 8;
/** Cookies stay valid for as long as their entries, so there is nothing a verifier would have to tell apart. */
const VERIFIER = Buffer.alloc(VERIFIER_BYTES);
const BATCH = 128;
/** Status, attributes, verifier, the end of the list and whether it is all. */
const RESULT_BYTES = 4 + 88 + VERIFIER_BYTES + 8;
const ENTRY_BYTES = 4 + 8 + 4 + 8;
const ENTRY_ATTRIBUTES_BYTES = 88 + 4 + 4 + HANDLE_BYTES;
const DOT_COOKIE = 1n;
const DOT_DOT_COOKIE = 2n;
const DOT = Buffer.from('.');
const DOT_DOT = Buffer.from('..');

interface Listed {
  readonly name: Buffer;
  readonly cookie: bigint;
  readonly place: Place;
  readonly attributes: Attributes;
}

interface Room {
  /** Of the whole result. */
  readonly bytes: number;
  /** Of names and cookies alone. */
  readonly directoryBytes: number;
  readonly withAttributes: boolean;
}

async function list(request: Request3, room: Room, handle: Buffer, cookie: bigint, verifier: Buffer): Promise<void> {
  const { reply } = request;
  const place = await request.place(handle);
  if (cookie !== 0n && !verifier.equals(VERIFIER)) throw new Nfs3Error(Status3.badCookie);
  const start = reply.length;
  request.ok();
  await request.currentAttributes(place);
  reply.fixed(VERIFIER);
  const listing = new Listing(request, room);
  const isEnd = await fill(request, listing, place, cookie);
  if (listing.count === 0 && !isEnd) {
    reply.truncate(start);
    throw new Nfs3Error(Status3.tooSmall);
  }
  reply.bool(false).bool(isEnd);
}

/** Writes entries for as long as there is room. */
class Listing {
  readonly #request: Request3;
  readonly #withAttributes: boolean;
  #left: number;
  #directoryLeft: number;
  count = 0;

  constructor(request: Request3, { bytes, directoryBytes, withAttributes }: Room) {
    this.#request = request;
    this.#withAttributes = withAttributes;
    this.#left = Math.min(bytes, request.server.limits.directoryBytesMax) - RESULT_BYTES;
    this.#directoryLeft = directoryBytes;
  }

  /** False if it does not fit. */
  add(entry: Listed): boolean {
    const bytes = ENTRY_BYTES + padded(entry.name.length);
    this.#left -= bytes + (this.#withAttributes ? ENTRY_ATTRIBUTES_BYTES : 0);
    this.#directoryLeft -= bytes;
    if (this.#left < 0 || (this.#directoryLeft < 0 && this.count > 0)) return false;
    writeEntry(this.#request, entry, this.#withAttributes);
    this.count += 1;
    return true;
  }
}

function writeEntry(request: Request3, { name, cookie, place, attributes }: Listed, withAttributes: boolean): void {
  request.reply.bool(true).size(attributes.inode).opaque(name).u64(cookie);
  if (!withAttributes) return;
  request.attributes(place, attributes);
  request.reply.bool(true);
  request.handle(place);
}

/** Whether everything after the cookie fits. */
async function fill(request: Request3, listing: Listing, place: Place, after: bigint): Promise<boolean> {
  const { filesystem, file, as } = place;
  // Fails if it is no directory or not to be read, before anything is listed.
  let page = await filesystem.readDirectory(as, file, after <= DOT_DOT_COOKIE ? 0n : after, BATCH);
  if (after < DOT_COOKIE) {
    const attributes = await filesystem.attributes(file);
    if (!listing.add({ name: DOT, cookie: DOT_COOKIE, place, attributes })) return false;
  }
  if (after < DOT_DOT_COOKIE) {
    const up = await request.server.namespace.lookup(place, request.call, DOT_DOT).catch(() => undefined);
    const isInside = up !== undefined && up.place.kind !== 'pseudo';
    const parent = isInside ? up : { place, attributes: await filesystem.attributes(file) };
    if (!listing.add({ name: DOT_DOT, cookie: DOT_DOT_COOKIE, ...parent })) return false;
  }
  for (;;) {
    for (const { name, cookie, attributes } of page.entries) {
      if (!listing.add({ name, cookie, attributes, place: moved(place, attributes) })) return false;
    }
    const last = page.entries[page.entries.length - 1];
    if (page.isEnd || last === undefined) return true;
    page = await filesystem.readDirectory(as, file, last.cookie, BATCH);
  }
}

export const readDirectory: Procedure3 = {
  name: 'READDIR',
  onFailure: ['attributes'],
  async run(request) {
    const { args } = request;
    const [handle, cookie, verifier] = [request.handleArgument(), args.u64(), args.fixed(VERIFIER_BYTES)];
    const bytes = args.u32();
    await list(request, { bytes, directoryBytes: bytes, withAttributes: false }, handle, cookie, verifier);
  },
};

export const readDirectoryPlus: Procedure3 = {
  name: 'READDIRPLUS',
  onFailure: ['attributes'],
  async run(request) {
    const { args } = request;
    const [handle, cookie, verifier] = [request.handleArgument(), args.u64(), args.fixed(VERIFIER_BYTES)];
    const [directoryBytes, bytes] = [args.u32(), args.u32()];
    await list(request, { bytes, directoryBytes, withAttributes: true }, handle, cookie, verifier);
  },
};
