import { FsError } from '../errors.ts';
import { KIND } from '../store/layout.ts';
import type { Reader, Transaction } from '../store/transaction.ts';
import type { Inode } from './inode.ts';
import { freeKey, isOfHash, slotOf } from './names.ts';

const NUMBER_BYTES = 6;
const COOKIE_BYTES = 6;
const VALUE_BYTES = NUMBER_BYTES + COOKIE_BYTES + 1;

/** The location of a name of an inode. */
export interface ParentLink {
  readonly parent: number;
  /** Of the name in that directory. */
  readonly cookie: number;
}

/**
 * Back links from an inode to its names. The first one is part of the attributes, so that a file with one name needs no
 * further item; the others are items, keyed by a hash of directory and name.
 */
export function addParent(transaction: Transaction, inode: Inode, link: ParentLink): void {
  if (inode.cookie === 0) {
    inode.parent = link.parent;
    inode.cookie = link.cookie;
    return;
  }
  const first = slotOf(link.cookie, link.parent);
  const taken: number[] = [];
  transaction.scan(inode.inode, KIND.link, first, (key) => isOfHash(key, first) && taken.push(key) > 0);
  transaction.put(inode.inode, KIND.link, freeKey(first, taken), encode(link));
}

/** The caller saves the inode. A removed directory keeps its parent: it may still be in use. */
export function removeParent(transaction: Transaction, inode: Inode, { parent, cookie }: ParentLink): void {
  if (inode.parent !== parent || inode.cookie !== cookie) {
    transaction.delete(inode.inode, KIND.link, keyOf(transaction, inode.inode, { parent, cookie }));
    return;
  }
  inode.cookie = 0;
  if (inode.type === 'directory') return;
  let other: number | undefined;
  transaction.scan(inode.inode, KIND.link, 0, (key, value) => {
    other = key;
    Object.assign(inode, decodeParent(value));
    return false;
  });
  if (other !== undefined) transaction.delete(inode.inode, KIND.link, other);
}

export function decodeParent(value: Buffer): ParentLink {
  const low = value.readUIntLE(NUMBER_BYTES, COOKIE_BYTES);
  return { parent: value.readUIntLE(0, NUMBER_BYTES), cookie: (value[VALUE_BYTES - 1] as number) * 2 ** 48 + low };
}

function keyOf(reader: Reader, inode: number, { parent, cookie }: ParentLink): number {
  const first = slotOf(cookie, parent);
  let found: number | undefined;
  reader.scan(inode, KIND.link, first, (key, value) => {
    if (!isOfHash(key, first)) return false;
    const link = decodeParent(value);
    if (link.parent === parent && link.cookie === cookie) found = key;
    return found === undefined;
  });
  if (found === undefined) throw new FsError('EIO', `Inode ${inode} does not know all of its names; run a check.`);
  return found;
}

function encode({ parent, cookie }: ParentLink): Buffer {
  const value = Buffer.allocUnsafe(VALUE_BYTES);
  value.writeUIntLE(parent, 0, NUMBER_BYTES);
  value.writeUIntLE(cookie % 2 ** 48, NUMBER_BYTES, COOKIE_BYTES);
  value[VALUE_BYTES - 1] = Math.floor(cookie / 2 ** 48);
  return value;
}
