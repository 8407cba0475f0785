import { FsError } from '../errors.ts';
import { KIND, VALUE_BYTES_MAX } from '../store/layout.ts';
import type { Reader, Transaction } from '../store/transaction.ts';
import type { Inode } from './inode.ts';

const CHANGE_BYTES = 8;
const HEADER_BYTES = CHANGE_BYTES + 2;

/** Where the contents of an archived file are. */
export interface ArchiveRecord {
  readonly destination: string;
  readonly key: string;
}

/** The contents are archived: recall them first. */
export class ArchivedError extends FsError {
  readonly inode: number;
  readonly generation: number;
  readonly archive: ArchiveRecord;

  constructor({ inode, generation }: Inode, archive: ArchiveRecord) {
    super('EARCHIVED', `The contents of inode ${inode} are archived in ${archive.destination}; recall them first.`);
    this.name = 'ArchivedError';
    this.inode = inode;
    this.generation = generation;
    this.archive = archive;
  }
}

/** Marks a file as archived. The caller drops its contents and saves the inode. */
export function putArchive(transaction: Transaction, inode: Inode, record: ArchiveRecord): void {
  transaction.put(inode.inode, KIND.archive, 0, encode(record, inode.change));
  inode.isArchived = true;
}

/** The caller saves the inode. */
export function dropArchive(transaction: Transaction, inode: Inode): void {
  transaction.delete(inode.inode, KIND.archive, 0);
  inode.isArchived = false;
}

export function readArchive(reader: Reader, inode: Inode): ArchiveRecord | undefined {
  const value = inode.isArchived ? reader.get(inode.inode, KIND.archive, 0) : undefined;
  if (value === undefined) return undefined;
  const keyAt = HEADER_BYTES + value.readUInt16LE(CHANGE_BYTES);
  return { destination: value.toString('utf8', HEADER_BYTES, keyAt), key: value.toString('utf8', keyAt) };
}

/** Identifies one archiving of a file: the record, and the change counter of the file at that time. */
export function archiveIdentity(reader: Reader, inode: Inode): Buffer | undefined {
  const value = inode.isArchived ? reader.get(inode.inode, KIND.archive, 0) : undefined;
  return value && Buffer.from(value);
}

export function refuseArchived(reader: Reader, inode: Inode): void {
  const archive = readArchive(reader, inode);
  if (archive !== undefined) throw new ArchivedError(inode, archive);
}

export function refuseLongRecord(record: ArchiveRecord): void {
  if (encode(record, 0).length <= VALUE_BYTES_MAX) return;
  throw new FsError('EINVAL', 'The destination and the key of an archived file are too long.');
}

function encode({ destination, key }: ArchiveRecord, change: number): Buffer {
  const name = Buffer.from(destination);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeDoubleLE(change, 0);
  header.writeUInt16LE(name.length, CHANGE_BYTES);
  return Buffer.concat([header, name, Buffer.from(key)]);
}
