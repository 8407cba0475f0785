import { FsError } from '../errors.ts';
import { KIND } from '../store/layout.ts';
import type { Reader, Transaction } from '../store/transaction.ts';
import type { Inode } from './inode.ts';
import { deleteLong, getLong, putLong } from './long-value.ts';
import { hashName, NAME_BYTES_MAX } from './names.ts';
import { chargeQuota } from './quotas.ts';

const XATTR_BYTES_MAX = 65536;

/**
 * Extended attributes: the key is a hash of the name, a number among those of the same hash, and the number of the piece.
 * The value begins with the length of the name and the name.
 */
const PIECES_MAX = 64;
const HASH_SHARE = 2 ** 8;
const HASH_KEY = Buffer.alloc(8);

export function checkXattr(name: Buffer, value: Buffer): void {
  if (name.length === 0 || name.includes(0)) throw new FsError('EINVAL', 'The name of the attribute makes no sense.');
  if (name.length > NAME_BYTES_MAX) throw new FsError('ERANGE', `A name has ${NAME_BYTES_MAX} bytes at most.`);
  if (value.length > XATTR_BYTES_MAX) throw new FsError('ERANGE', `An attribute has ${XATTR_BYTES_MAX} bytes at most.`);
}

export function getXattr(reader: Reader, inode: number, name: Buffer): Buffer | undefined {
  const key = findKey(reader, inode, name);
  if (key === undefined) return undefined;
  const whole = getLong(reader, inode, KIND.xattr, key, key + PIECES_MAX);
  return whole.subarray(1 + name.length);
}

/** The caller saves the inode, which counts their bytes. */
export function putXattr(transaction: Transaction, inode: Inode, name: Buffer, value: Buffer): void {
  const known = findKey(transaction, inode.inode, name);
  const before = known === undefined ? 0 : drop(transaction, inode.inode, known);
  const key = known ?? newKey(transaction, inode.inode, name);
  const whole = Buffer.concat([Buffer.of(name.length), name, value]);
  putLong(transaction, inode.inode, KIND.xattr, key, whole);
  charge(transaction, inode, whole.length - before);
}

/** The caller saves the inode. */
export function removeXattr(transaction: Transaction, inode: Inode, name: Buffer): boolean {
  const key = findKey(transaction, inode.inode, name);
  if (key !== undefined) charge(transaction, inode, -drop(transaction, inode.inode, key));
  return key !== undefined;
}

/** Removes pieces of attributes, at most `max`. Returns whether none is left. The caller saves the inode. */
export function removeSomeXattrs(transaction: Transaction, inode: Inode, max: number): boolean {
  const keys: number[] = [];
  let bytes = 0;
  let isDone = true;
  transaction.scan(inode.inode, KIND.xattr, 0, (key, value) => {
    isDone = keys.length < max;
    if (isDone) bytes += value.length;
    return isDone && keys.push(key) > 0;
  });
  for (const key of keys) transaction.delete(inode.inode, KIND.xattr, key);
  charge(transaction, inode, -bytes);
  return isDone;
}

export function listXattrs(reader: Reader, inode: number): Buffer[] {
  const names: Buffer[] = [];
  reader.scan(inode, KIND.xattr, 0, (key, value) => {
    if (key % PIECES_MAX === 0) names.push(Buffer.from(value.subarray(1, 1 + (value[0] as number))));
    return true;
  });
  return names;
}

function charge(transaction: Transaction, inode: Inode, bytes: number): void {
  chargeQuota(transaction, inode, bytes, 0);
  inode.xattrBytes += bytes;
}

/** Returns its size in bytes. */
function drop(transaction: Transaction, inode: number, key: number): number {
  const { length } = getLong(transaction, inode, KIND.xattr, key, key + PIECES_MAX);
  deleteLong(transaction, inode, KIND.xattr, key, key + PIECES_MAX);
  return length;
}

function findKey(reader: Reader, inode: number, name: Buffer): number | undefined {
  const first = firstKey(name);
  let found: number | undefined;
  reader.scan(inode, KIND.xattr, first, (key, value) => {
    if (key >= first + HASH_SHARE * PIECES_MAX) return false;
    const isIt = key % PIECES_MAX === 0 && value[0] === name.length && name.equals(value.subarray(1, 1 + name.length));
    if (isIt) found = key;
    return !isIt;
  });
  return found;
}

function newKey(reader: Reader, inode: number, name: Buffer): number {
  const first = firstKey(name);
  for (let key = first; key < first + HASH_SHARE * PIECES_MAX; key += PIECES_MAX) {
    if (reader.get(inode, KIND.xattr, key) === undefined) return key;
  }
  throw new FsError('ENOSPC', 'Too many attributes have names of the same hash; choose another name.');
}

/** 38 bits of the hash, 8 for collisions, 6 for the pieces. */
function firstKey(name: Buffer): number {
  return ((hashName(name, HASH_KEY) / HASH_SHARE) % 2 ** 38) * HASH_SHARE * PIECES_MAX;
}
