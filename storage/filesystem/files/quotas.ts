import { FsError } from '../errors.ts';
import { KIND, OWN_INODE } from '../store/layout.ts';
import type { Reader, Transaction } from '../store/transaction.ts';

export const QUOTA_SCOPES = ['user', 'group', 'project'] as const;
export type QuotaScope = (typeof QUOTA_SCOPES)[number];

/** Usage and limits of an id; without a limit it is unlimited. */
export interface Quota {
  readonly scope: QuotaScope;
  readonly id: number;
  readonly usedBytes: number;
  readonly usedInodes: number;
  readonly limitBytes: number | undefined;
  readonly limitInodes: number | undefined;
}

/** The ids that a file is charged to. */
export interface QuotaOwner {
  readonly uid: number;
  readonly gid: number;
  readonly project: number;
}

export type QuotaState = Readonly<Record<QuotaScope, boolean>>;

const KINDS = { user: KIND.userQuota, group: KIND.groupQuota, project: KIND.projectQuota } as const;
const QUOTA_BYTES = 32;
const NO_LIMIT = -1;

/**
 * Counters always change in the transaction that changes the files; the limits of a scope are enforced while its state
 * is on. Files without a project (0) are charged to none.
 */
export function chargeQuota(transaction: Transaction, owner: QuotaOwner, bytes: number, inodes: number): void {
  if (bytes === 0 && inodes === 0) return;
  const state = readQuotaState(transaction);
  for (const scope of QUOTA_SCOPES) {
    const id = idOf(owner, scope);
    if (id === undefined) continue;
    const before = readQuota(transaction, scope, id);
    const after = { ...before, usedBytes: before.usedBytes + bytes, usedInodes: before.usedInodes + inodes };
    if (state[scope]) refuseBeyond(after, bytes > 0, inodes > 0);
    writeQuota(transaction, after);
  }
}

/** Refuses what `chargeQuota` would refuse, before any work is done. */
export function checkQuota(reader: Reader, owner: QuotaOwner, bytes: number): void {
  const state = readQuotaState(reader);
  for (const scope of QUOTA_SCOPES) {
    const id = idOf(owner, scope);
    if (id === undefined || !state[scope]) continue;
    const quota = readQuota(reader, scope, id);
    refuseBeyond({ ...quota, usedBytes: quota.usedBytes + bytes }, bytes > 0, false);
  }
}

/** Changes the owner of a file: ids that stay the same are not charged. */
export function moveQuota(
  transaction: Transaction,
  from: QuotaOwner,
  to: QuotaOwner,
  bytes: number,
  inodes: number,
): void {
  const state = readQuotaState(transaction);
  for (const scope of QUOTA_SCOPES) {
    const [left, joined] = [idOf(from, scope), idOf(to, scope)];
    if (left === joined) continue;
    if (left !== undefined) {
      const quota = readQuota(transaction, scope, left);
      const { usedBytes, usedInodes } = quota;
      writeQuota(transaction, { ...quota, usedBytes: usedBytes - bytes, usedInodes: usedInodes - inodes });
    }
    if (joined === undefined) continue;
    const quota = readQuota(transaction, scope, joined);
    const after = { ...quota, usedBytes: quota.usedBytes + bytes, usedInodes: quota.usedInodes + inodes };
    if (state[scope]) refuseBeyond(after, bytes > 0, inodes > 0);
    writeQuota(transaction, after);
  }
}

export function readQuota(reader: Reader, scope: QuotaScope, id: number): Quota {
  const bytes = reader.get(OWN_INODE, KINDS[scope], id);
  return bytes === undefined
    ? { scope, id, usedBytes: 0, usedInodes: 0, limitBytes: undefined, limitInodes: undefined }
    : decodeQuota(scope, id, bytes);
}

/** The quotas of a scope with usage or limits, by id, from one on. */
export function listQuotas(reader: Reader, scope: QuotaScope, from: number, max: number): Quota[] {
  const found: Quota[] = [];
  reader.scan(OWN_INODE, KINDS[scope], from, (id, bytes) => found.push(decodeQuota(scope, id, bytes)) < max);
  return found;
}

/** Limits below the current usage are allowed: they refuse growth. */
export function setQuotaLimits(
  transaction: Transaction,
  scope: QuotaScope,
  id: number,
  limits: Pick<Quota, 'limitBytes' | 'limitInodes'>,
): void {
  writeQuota(transaction, { ...readQuota(transaction, scope, id), ...limits });
}

export function readQuotaState(reader: Reader): QuotaState {
  const bits = reader.get(OWN_INODE, KIND.quotaState, 0)?.[0] ?? 0;
  return { user: (bits & 1) !== 0, group: (bits & 2) !== 0, project: (bits & 4) !== 0 };
}

export function writeQuotaState(transaction: Transaction, state: QuotaState): void {
  const bits = (state.user ? 1 : 0) | (state.group ? 2 : 0) | (state.project ? 4 : 0);
  transaction.put(OWN_INODE, KIND.quotaState, 0, Buffer.of(bits));
}

function decodeQuota(scope: QuotaScope, id: number, bytes: Buffer): Quota {
  return {
    scope,
    id,
    usedBytes: bytes.readDoubleLE(0),
    usedInodes: bytes.readDoubleLE(8),
    limitBytes: limitAt(bytes, 16),
    limitInodes: limitAt(bytes, 24),
  };
}

function writeQuota(transaction: Transaction, quota: Quota): void {
  const isIdle = quota.usedInodes === 0 && quota.usedBytes === 0;
  if (isIdle && quota.limitBytes === undefined && quota.limitInodes === undefined) {
    transaction.delete(OWN_INODE, KINDS[quota.scope], quota.id);
    return;
  }
  const bytes = Buffer.alloc(QUOTA_BYTES);
  bytes.writeDoubleLE(quota.usedBytes, 0);
  bytes.writeDoubleLE(quota.usedInodes, 8);
  bytes.writeDoubleLE(quota.limitBytes ?? NO_LIMIT, 16);
  bytes.writeDoubleLE(quota.limitInodes ?? NO_LIMIT, 24);
  transaction.put(OWN_INODE, KINDS[quota.scope], quota.id, bytes);
}

function limitAt(bytes: Buffer, at: number): number | undefined {
  const limit = bytes.readDoubleLE(at);
  return limit === NO_LIMIT ? undefined : limit;
}

function refuseBeyond(quota: Quota, growsBytes: boolean, growsInodes: boolean): void {
  const { scope, id, usedBytes, usedInodes, limitBytes = Infinity, limitInodes = Infinity } = quota;
  if (growsBytes && usedBytes > limitBytes) {
    throw new FsError('EDQUOT', `The quota of ${scope} ${id} is ${limitBytes} bytes; delete files or raise it.`);
  }
  if (growsInodes && usedInodes > limitInodes) {
    throw new FsError('EDQUOT', `The quota of ${scope} ${id} is ${limitInodes} files; delete some or raise it.`);
  }
}

function idOf(owner: QuotaOwner, scope: QuotaScope): number | undefined {
  if (scope === 'user') return owner.uid;
  if (scope === 'group') return owner.gid;
  return owner.project === 0 ? undefined : owner.project;
}
