import { PIECE_BLOCK_BYTES } from '../drives/record.ts';
import type { Layout } from '../layout/layout.ts';
import type { ByteRange } from '../object-store.ts';
import type { BlobRecord, PolicyLayout } from '../records.ts';
import { type AccessOptions, BlobAccess } from './blob-access.ts';
import { decryptor } from '../counter-mode.ts';
import { keyOf } from './cipher.ts';
import { stripeBytes } from './pieces.ts';

/** About so much is read at a time. */
const CHUNK_BYTES = 512 * 1024;
/** Chunks that are read while one is consumed. */
const CHUNKS_AHEAD = 2;

export interface BlobReaderOptions extends AccessOptions {
  readonly layout: () => Layout;
}

/** Gives back what a `BlobWriter` wrote, whole or a range of it, from whichever pieces are good. */
export class BlobReader {
  readonly #options: BlobReaderOptions;

  constructor(options: BlobReaderOptions) {
    this.#options = options;
  }

  /** In parts of up to 64 KiB, with a little reading ahead. Rejects with `unreadable` when too few pieces are good. */
  async *read(record: BlobRecord, policy: PolicyLayout, range?: ByteRange): AsyncGenerator<Uint8Array> {
    const { start, end } = within(record, range);
    const open = this.#opener(record, start);
    const access = new BlobAccess(this.#options, record, policy);
    const ahead: Promise<Buffer[]>[] = [];
    try {
      for (let next = start; next < end || ahead.length > 0;) {
        while (next < end && ahead.length < CHUNKS_AHEAD) {
          const until = Math.min(chunkEnd(next, policy), end);
          const chunk = keptParts(access, next, until);
          ahead.push(chunk);
          // The consumer gets the failure when it awaits this; until then it must not count as unhandled.
          chunk.catch(() => undefined);
          next = until;
        }
        for (const part of (await ahead.shift()) ?? []) yield open(part);
      }
    } finally {
      await Promise.allSettled(ahead);
    }
  }

  /** In one piece: for small blobs and ranges. */
  async readWhole(record: BlobRecord, policy: PolicyLayout, range?: ByteRange): Promise<Uint8Array> {
    const { start, end } = within(record, range);
    if (end - start > CHUNK_BYTES) return joined(this.read(record, policy, range), end - start);
    const open = this.#opener(record, start);
    const parts = start < end ? await keptParts(new BlobAccess(this.#options, record, policy), start, end) : [];
    return open(parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts));
  }

  /** Turns parts as they are kept, in their order from `start` on, into what was put in; throws if they are locked. */
  #opener(record: BlobRecord, start: number): (part: Buffer) => Buffer {
    if (record.key === 0) return (part) => part;
    const decipher = decryptor(keyOf(this.#options.layout().encryption, record.key), record.id, start);
    return (part) => decipher.update(part);
  }
}

async function joined(parts: AsyncIterable<Uint8Array>, bytes: number): Promise<Buffer> {
  const whole = Buffer.allocUnsafe(bytes);
  let filled = 0;
  for await (const part of parts) {
    whole.set(part, filled);
    filled += part.length;
  }
  return whole;
}

/** The bytes of a range within a few stripes, verified, in order, as they are kept. */
function keptParts(access: BlobAccess, start: number, end: number): Promise<Buffer[]> {
  return access.policy.copies > 0 ? copyParts(access, start, end) : fragmentParts(access, start, end);
}

async function copyParts(access: BlobAccess, start: number, end: number): Promise<Buffer[]> {
  const first = Math.floor(start / PIECE_BLOCK_BYTES);
  const found = access.copy({ first, end: Math.ceil(end / PIECE_BLOCK_BYTES) });
  const blocks = found instanceof Promise ? await found : found;
  return blocks.map((block, index) => cut(block, (first + index) * PIECE_BLOCK_BYTES, start, end));
}

async function fragmentParts(access: BlobAccess, start: number, end: number): Promise<Buffer[]> {
  const stripe = stripeBytes(access.policy);
  const span = { first: Math.floor(start / stripe), end: Math.ceil(end / stripe) };
  const wanted = touchedFragments(access, span, start, end);
  const fragments = await access.fragments(wanted, span);
  const parts: Buffer[] = [];
  for (let index = span.first; index < span.end; index += 1) {
    const length = fragmentLength(access, index);
    wanted.forEach((slot, at) => {
      const block = fragments[at]?.[index - span.first];
      const part = block ? cut(block, index * stripe + slot * length, start, end) : undefined;
      if (part && part.length > 0) parts.push(part);
    });
  }
  return parts;
}

/** What of a block that stands at `at` lies between `start` and `end`. */
function cut(block: Buffer, at: number, start: number, end: number): Buffer {
  if (at >= start && at + block.length <= end) return block;
  return block.subarray(Math.max(start - at, 0), Math.max(end - at, 0));
}

/** A range within one stripe needs only the fragments it lies in. */
function touchedFragments(
  access: BlobAccess,
  span: { readonly first: number; readonly end: number },
  start: number,
  end: number,
): number[] {
  const all = Array.from({ length: access.policy.dataFragments }, (_, slot) => slot);
  if (span.end - span.first > 1) return all;
  const base = span.first * stripeBytes(access.policy);
  const length = fragmentLength(access, span.first);
  return all.filter((slot) => base + slot * length < end && base + (slot + 1) * length > start);
}

/** Of one fragment in a stripe: the last stripe may be shorter. */
function fragmentLength({ record, policy }: BlobAccess, stripe: number): number {
  const rest = record.size - stripe * stripeBytes(policy);
  return Math.min(PIECE_BLOCK_BYTES, Math.ceil(rest / policy.dataFragments));
}

/** Where the chunk that begins at `start` ends: at the end of a stripe. */
function chunkEnd(start: number, policy: PolicyLayout): number {
  const stripe = stripeBytes(policy);
  const stripes = Math.max(1, Math.floor(CHUNK_BYTES / stripe));
  return (Math.floor(start / stripe) + stripes) * stripe;
}

function within(record: BlobRecord, range: ByteRange | undefined): ByteRange {
  const end = Math.min(range?.end ?? record.size, record.size);
  return { start: Math.max(0, Math.min(range?.start ?? 0, end)), end };
}
