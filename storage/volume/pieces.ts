import { PendingParts } from '../all-done.ts';
import { clear, type Xts } from '../kernels/index.ts';
import { BLOCK_BYTES, BLOCKS_PER_EXTENT, type Done } from '../units.ts';
import type { Caching, ExtentStore } from './format.ts';

/** No extent: the piece is zeros. */
export const NOTHING = 0;

/** `count` blocks of an extent, starting at `from`. */
export interface Piece {
  readonly extent: number;
  readonly from: number;
  readonly count: number;
  readonly caching: Caching;
}

/** Reads pieces into consecutive parts of the buffer, adjacent pieces in one request. */
export function readPieces(
  store: ExtentStore,
  pieces: readonly Piece[],
  cipher: Xts | undefined,
  firstBlock: number,
  into: Buffer,
): Done {
  const parts = new PendingParts();
  let block = 0;
  for (let index = 0; index < pieces.length;) {
    const run = runFrom(pieces, index);
    const first = firstBlock + block;
    const part = into.subarray(block * BLOCK_BYTES, (block + run.count) * BLOCK_BYTES);
    parts.start(() => readRun(store, run, cipher, first, part));
    block += run.count;
    index = run.next;
  }
  return parts.done();
}

export function zeroFill(into: Buffer): Done {
  clear(into);
  return undefined;
}

interface Run extends Piece {
  /** Index of the first piece that is not part of it. */
  readonly next: number;
}

/** The adjacent pieces from `index` on. */
function runFrom(pieces: readonly Piece[], index: number): Run {
  const first = pieces[index];
  if (!first) throw new Error('no piece to read');
  let { count } = first;
  let next = index + 1;
  for (let piece = pieces[next]; piece; piece = pieces[++next]) {
    const endsAt = first.extent * BLOCKS_PER_EXTENT + first.from + count;
    const startsAt = piece.extent * BLOCKS_PER_EXTENT + piece.from;
    const adjoins = first.extent === NOTHING ? piece.extent === NOTHING : startsAt === endsAt;
    if (!adjoins || piece.caching !== first.caching) break;
    count += piece.count;
  }
  return { ...first, count, next };
}

function readRun(store: ExtentStore, run: Run, cipher: Xts | undefined, block: number, into: Buffer): Done {
  if (run.extent === NOTHING) return zeroFill(into);
  const done = store.read(run.extent, run.from * BLOCK_BYTES, into, run.caching);
  if (!cipher) return done;
  if (done) return done.then(() => cipher.decrypt(into, block));
  cipher.decrypt(into, block);
  return undefined;
}
