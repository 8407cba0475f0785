import { join } from 'node:path';

/**
 * The audit logs of shares: what the engine writes and the management reads. Below the folder of the array, each audited
 * share has a folder named after its volume, with files named after the time of their first record:
 *
 *     audit/volume-00000007/1794990000000.log
 *
 * Each line of a file is one `AuditRecord` as JSON, in the order in which things were done. Records are appended only; a
 * crash may cut the last line of a file short, and readers skip it. The logs of all shares together take
 * `AUDIT_BYTES_MAX`; beyond that the oldest files are deleted, whichever share they are of, those of deleted shares
 * among them.
 */
export interface AuditRecord {
  /** When it was answered, milliseconds since 1970. */
  readonly time: number;
  readonly uid: number;
  readonly gid: number;
  /** Address of the client. */
  readonly client: string;
  readonly operation: AuditOperation;
  /** From the root of the share. Bytes that are not UTF-8 are shown as U+FFFD. */
  readonly path: string;
  /** Of a rename or link: the other name. */
  readonly toPath?: string;
  /** `ok`, or the error the client got, such as `EACCES`. */
  readonly result: string;
}

export type AuditOperation =
  | 'create'
  | 'mkdir'
  | 'symlink'
  | 'mknod'
  | 'link'
  | 'rename'
  | 'remove'
  | 'rmdir'
  | 'open'
  | 'read'
  | 'write'
  | 'setattr'
  | 'setacl'
  | 'setxattr';

export const AUDIT_FILE_BYTES_MAX = 16 * 2 ** 20;
export const AUDIT_BYTES_MAX = 2 ** 30;

export function auditFolder(arrayFolder: string): string {
  return join(arrayFolder, 'audit');
}

export function auditFileName(firstRecordMs: number): string {
  return `${firstRecordMs}.log`;
}

/** The time of its first record; undefined for a file that is no log. */
export function auditFileTime(name: string): number | undefined {
  return /^\d{1,15}\.log$/.test(name) ? Number(name.slice(0, -'.log'.length)) : undefined;
}
