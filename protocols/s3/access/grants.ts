import type { Grant, Permission } from '@granary/storage/object-store';
import type { Caller } from '../../objects/context.ts';

/** Access control lists by name. */
export type CannedAcl =
  | 'private'
  | 'public-read'
  | 'public-read-write'
  | 'authenticated-read'
  | 'bucket-owner-read'
  | 'bucket-owner-full-control';

/** As it is kept: by its name, or by its grants. */
export interface AccessList {
  readonly acl?: string;
  readonly grants?: readonly Grant[];
}

export const EVERYONE = 'everyone';
export const SIGNED = 'signed';

/** What they grant beside the owner's full control. The account of a bucket reads its objects anyway. */
const CANNED: Readonly<Record<CannedAcl, readonly Grant[]>> = {
  private: [],
  'bucket-owner-read': [],
  'bucket-owner-full-control': [],
  'public-read': [{ to: EVERYONE, permission: 'READ' }],
  'public-read-write': [
    { to: EVERYONE, permission: 'READ' },
    { to: EVERYONE, permission: 'WRITE' },
  ],
  'authenticated-read': [{ to: SIGNED, permission: 'READ' }],
};

export function isCanned(name: string): name is CannedAcl {
  return Object.hasOwn(CANNED, name);
}

/** Without what goes without saying of an owner where the list is a canned one. */
export function grantsOf({ acl, grants }: AccessList): readonly Grant[] {
  if (grants !== undefined) return grants;
  return acl !== undefined && isCanned(acl) ? CANNED[acl] : [];
}

/** The canned list that says the same, its owner's full control included; undefined where none does. */
export function cannedOf(grants: readonly Grant[], owner: string): CannedAcl | undefined {
  const isSame = (name: CannedAcl) => {
    const whole: readonly Grant[] = [{ to: owner, permission: 'FULL_CONTROL' }, ...CANNED[name]];
    const isGiven = (grant: Grant) =>
      grants.some(({ to, permission }) => to === grant.to && permission === grant.permission);
    return whole.length === grants.length && whole.every(isGiven);
  };
  return (Object.keys(CANNED) as CannedAcl[]).find(isSame);
}

function isPublicGrant({ to }: Grant): boolean {
  return to === EVERYONE || to === SIGNED;
}

/** Whether it opens anything to callers of whatever account. */
export function isPublicList(list: AccessList): boolean {
  return grantsOf(list).some(isPublicGrant);
}

export function grantsTo(
  list: AccessList,
  permission: Permission,
  { caller, ignorePublic }: { readonly caller: Caller | null; readonly ignorePublic: boolean },
): boolean {
  return grantsOf(list).some((grant) => {
    if (grant.permission !== permission && grant.permission !== 'FULL_CONTROL') return false;
    if (isPublicGrant(grant)) return !ignorePublic && (grant.to === EVERYONE || caller !== null);
    return caller?.account === grant.to;
  });
}
