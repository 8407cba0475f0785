import { FsError } from '../errors.ts';
import { KIND } from '../store/layout.ts';
import type { Reader, Transaction } from '../store/transaction.ts';
import { type FileType, typeNumber, typeOf } from './inode.ts';
import { freeKey, hashName, isOfHash } from './names.ts';

const HEADER_BYTES = 7;
const NUMBER_BYTES = 6;

/** A name in a directory. */
export interface Entry {
  readonly name: Buffer;
  readonly inode: number;
  readonly type: FileType;
  /** A listing continues after this name; the cookie never changes. */
  readonly cookie: number;
}

export function findEntry(reader: Reader, directory: number, name: Buffer, hashKey: Buffer): Entry | undefined {
  const first = hashName(name, hashKey);
  let found: Entry | undefined;
  reader.scan(directory, KIND.entry, first, (key, value) => {
    if (!isOfHash(key, first)) return false;
    if (value.compare(name, 0, name.length, HEADER_BYTES) === 0) found = entryOf(key, value);
    return found === undefined;
  });
  return found;
}

/** The caller has checked that the name does not exist. Returns its cookie. */
export function addEntry(
  transaction: Transaction,
  directory: number,
  name: Buffer,
  target: { readonly inode: number; readonly type: FileType },
  hashKey: Buffer,
): number {
  const first = hashName(name, hashKey);
  const taken: number[] = [];
  transaction.scan(directory, KIND.entry, first, (key) => isOfHash(key, first) && taken.push(key) > 0);
  const cookie = freeKey(first, taken);
  transaction.put(directory, KIND.entry, cookie, encode(name, target));
  return cookie;
}

export function replaceEntry(
  transaction: Transaction,
  directory: number,
  entry: Entry,
  target: { readonly inode: number; readonly type: FileType },
): void {
  transaction.put(directory, KIND.entry, entry.cookie, encode(entry.name, target));
}

export function removeEntry(transaction: Transaction, directory: number, entry: Entry): void {
  transaction.delete(directory, KIND.entry, entry.cookie);
}

export function nameAt(reader: Reader, directory: number, cookie: number): Buffer {
  const value = reader.get(directory, KIND.entry, cookie);
  if (value === undefined) throw new FsError('EIO', `Directory ${directory} lacks a name; run a check.`);
  return Buffer.from(value.subarray(HEADER_BYTES));
}

/** Visits the names after a cookie. */
export function listEntries(reader: Reader, directory: number, cookie: number, visit: (entry: Entry) => boolean): void {
  reader.scan(directory, KIND.entry, cookie + 1, (key, value) => visit(entryOf(key, value)));
}

export function entryOf(cookie: number, value: Buffer): Entry {
  return {
    name: Buffer.from(value.subarray(HEADER_BYTES)),
    inode: value.readUIntLE(0, NUMBER_BYTES),
    type: typeOf(value[NUMBER_BYTES] as number),
    cookie,
  };
}

function encode(name: Buffer, target: { readonly inode: number; readonly type: FileType }): Buffer {
  const value = Buffer.allocUnsafe(HEADER_BYTES + name.length);
  value.writeUIntLE(target.inode, 0, NUMBER_BYTES);
  value[NUMBER_BYTES] = typeNumber(target.type);
  name.copy(value, HEADER_BYTES);
  return value;
}
