import type { Bucket, Grant, Permission } from '@granary/storage/object-store';
import { type AccessList, cannedOf, EVERYONE, grantsOf, isPublicList, SIGNED } from '../../access/grants.ts';
import { badArgument, S3Error } from '../../errors.ts';
import type { S3Request } from '../../request.ts';
import { element, field } from '../../xml.ts';
import type { XmlElement } from '../../xml-reader.ts';
import { ownerFields } from '../replies.ts';

const GROUPS: Readonly<Record<string, string>> = {
  'http://acs.amazonaws.com/groups/global/AllUsers': EVERYONE,
  'http://acs.amazonaws.com/groups/global/AuthenticatedUsers': SIGNED,
};
const PERMISSIONS: readonly Permission[] = ['FULL_CONTROL', 'READ', 'WRITE', 'READ_ACP', 'WRITE_ACP'];
const GRANTS_MAX = 100;
const ACCOUNT = /^[0-9a-f]{32}$/;

/** A grant as clients write it: to an account by its id or a mail address of one of its users, or to a group. */
export interface NamedGrant {
  readonly kind: 'id' | 'uri' | 'emailAddress';
  readonly name: string;
  readonly permission: string;
}

/** The list that grants make; each grantee is looked up once, after everything that needs no search was checked. */
export async function listOfGrants(
  request: S3Request,
  named: readonly NamedGrant[],
  owner: string,
): Promise<AccessList> {
  if (named.length > GRANTS_MAX) {
    throw new S3Error('MalformedACLError', `An access control list has at most ${GRANTS_MAX} grants.`);
  }
  const permissions = named.map(permissionOf);
  const grantees = new Map<string, string>();
  const grants: Grant[] = [];
  for (const [index, permission] of permissions.entries()) {
    const each = named[index];
    if (each === undefined) continue;
    const mark = `${each.kind} ${each.name}`;
    const to = grantees.get(mark) ?? (await granteeOf(request, each));
    grantees.set(mark, to);
    grants.push({ to, permission });
  }
  const acl = cannedOf(grants, owner);
  return acl === undefined ? { grants } : { acl };
}

function permissionOf({ permission }: NamedGrant): Permission {
  const found = PERMISSIONS.find((known) => known === permission);
  if (found === undefined) throw new S3Error('MalformedACLError', `A permission is ${PERMISSIONS.join(', ')}.`);
  return found;
}

async function granteeOf({ context }: S3Request, { kind, name }: NamedGrant): Promise<string> {
  if (kind === 'uri') {
    const group = Object.hasOwn(GROUPS, name) ? GROUPS[name] : undefined;
    if (group === undefined) throw badArgument('Group/URI', name, 'Invalid group uri');
    return group;
  }
  if (kind === 'id') {
    const account = ACCOUNT.test(name) ? await context.directory.account(name) : undefined;
    if (account === undefined) throw badArgument('CanonicalUser/ID', name, 'Invalid id');
    return account.id;
  }
  const [account, ...others] = await context.directory.accountsByMail(name);
  if (account === undefined) throw new S3Error('UnresolvableGrantByEmailAddress');
  if (others.length > 0) throw new S3Error('AmbiguousGrantByEmailAddress');
  return account;
}

/** The list a client sends as a document. */
export function listOfXml(request: S3Request, root: XmlElement, owner: string): Promise<AccessList> {
  const list = root.child('AccessControlList');
  if (list === undefined) throw new S3Error('MalformedACLError', '<AccessControlPolicy> needs <AccessControlList>.');
  const named = root.child('Owner')?.text('ID');
  if (named !== undefined && named !== owner) throw new S3Error('AccessDenied', 'The owner cannot be changed.');
  return listOfGrants(request, list.all('Grant').map(namedGrant), owner);
}

export function namedGrant(grant: XmlElement): NamedGrant {
  const grantee = grant.child('Grantee');
  const permission = grant.text('Permission')?.trim();
  if (grantee === undefined || permission === undefined) throw new S3Error('MalformedACLError');
  const [id, uri, mail] = ['ID', 'URI', 'EmailAddress'].map((name) => grantee.text(name)?.trim());
  if (id !== undefined) return { kind: 'id', name: id, permission };
  if (uri !== undefined) return { kind: 'uri', name: uri, permission };
  if (mail !== undefined) return { kind: 'emailAddress', name: mail, permission };
  throw new S3Error('MalformedACLError', 'A grantee has <ID>, <URI> or <EmailAddress>.');
}

/** What is to be kept in a bucket: not while its owner is enforced, and nothing public while that is blocked. */
export function checkAcceptable({ settings }: Bucket, list: AccessList): void {
  if (settings.ownership === 'BucketOwnerEnforced' && list.acl !== 'bucket-owner-full-control') {
    throw new S3Error('AccessControlListNotSupported');
  }
  if (settings.publicAccessBlock?.blockPublicAcls === true && isPublicList(list)) {
    throw new S3Error('AccessDenied', 'Public ACLs are blocked by the public access block of the bucket.');
  }
}

/** As it is kept: the account of a bucket reads its objects anyway, so the lists that say so are private. */
export function kept(list: AccessList): AccessList {
  if (list.acl === undefined) return list;
  return list.acl === 'private' || list.acl.startsWith('bucket-owner-') ? {} : { acl: list.acl };
}

export async function aclXml(request: S3Request, list: AccessList, owner: string): Promise<string> {
  const ofOwner = await ownerFields(request, owner);
  const whole: readonly Grant[] = list.grants ?? [{ to: owner, permission: 'FULL_CONTROL' }, ...grantsOf(list)];
  return element('Owner', ofOwner) + element('AccessControlList', await grantsXml(request, whole));
}

export async function grantsXml(request: S3Request, grants: readonly Grant[]): Promise<string> {
  return (await Promise.all(grants.map((grant) => grantXml(request, grant)))).join('');
}

async function grantXml(request: S3Request, { to, permission }: Grant): Promise<string> {
  const [uri] = Object.entries(GROUPS).find(([, group]) => group === to) ?? [];
  const whom =
    uri === undefined ? grantee('CanonicalUser', await ownerFields(request, to)) : grantee('Group', field('URI', uri));
  return element('Grant', whom + field('Permission', permission));
}

function grantee(type: string, inner: string): string {
  return element('Grantee', inner, ` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="${type}"`);
}
