import { VALUE_BYTES_MAX } from '../store/layout.ts';
import type { Reader, Transaction } from '../store/transaction.ts';

/** Values that may exceed an item are stored in pieces at adjacent keys. */
const PIECE_BYTES = VALUE_BYTES_MAX;

export function putLong(transaction: Transaction, inode: number, kind: number, key: number, value: Buffer): void {
  for (let at = 0, piece = key; at === 0 || at < value.length; at += PIECE_BYTES, piece += 1) {
    transaction.put(inode, kind, piece, value.subarray(at, at + PIECE_BYTES));
  }
}

/** The pieces from a key up to another. */
export function getLong(reader: Reader, inode: number, kind: number, key: number, until: number): Buffer {
  const pieces: Buffer[] = [];
  reader.scan(inode, kind, key, (at, piece) => {
    if (at < until) pieces.push(piece);
    return at < until;
  });
  return Buffer.concat(pieces);
}

export function deleteLong(transaction: Transaction, inode: number, kind: number, key: number, until: number): void {
  const keys: number[] = [];
  transaction.scan(inode, kind, key, (at) => at < until && keys.push(at) > 0);
  for (const each of keys) transaction.delete(inode, kind, each);
}
