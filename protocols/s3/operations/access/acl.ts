import { S3Error } from '../../errors.ts';
import { element, field } from '../../xml.ts';
import type { XmlElement } from '../../xml-reader.ts';

/** Canned access control lists: the only ones there are here. Finer rules are a matter of bucket policies. */
export type CannedAcl = 'private' | 'public-read' | 'public-read-write' | 'authenticated-read';

const EVERYONE = 'http://acs.amazonaws.com/groups/global/AllUsers';
const SIGNED = 'http://acs.amazonaws.com/groups/global/AuthenticatedUsers';

/** A group and what it may do, as `<group> <permission>`; the owner's full control goes without saying. */
const GRANTS: Readonly<Record<CannedAcl, readonly string[]>> = {
  private: [],
  'public-read': [`${EVERYONE} READ`],
  'public-read-write': [`${EVERYONE} READ`, `${EVERYONE} WRITE`],
  'authenticated-read': [`${SIGNED} READ`],
};

/** The name of a canned list; undefined for what is none. The owner of a bucket owns its objects, so some are private. */
export function cannedAcl(name: string): CannedAcl | undefined {
  if (name === 'bucket-owner-read' || name === 'bucket-owner-full-control') return 'private';
  return Object.hasOwn(GRANTS, name) ? (name as CannedAcl) : undefined;
}

const OTHER_GRANTS =
  'Grants can only be those of a canned ACL: private, public-read, public-read-write or authenticated-read. Use a bucket policy for others.';

/** The canned list that grants say in other words. */
export function aclOfGrants(grants: ReadonlySet<string>): CannedAcl {
  for (const name of Object.keys(GRANTS) as CannedAcl[]) {
    if (GRANTS[name].length === grants.size && GRANTS[name].every((grant) => grants.has(grant))) return name;
  }
  throw new S3Error('NotImplemented', OTHER_GRANTS);
}

/** The list a client sends as a document. */
export function aclOfXml(root: XmlElement, owner: string): CannedAcl {
  const list = root.child('AccessControlList');
  if (list === undefined) throw new S3Error('MalformedACLError', '<AccessControlPolicy> needs <AccessControlList>.');
  const named = root.child('Owner')?.text('ID');
  if (named !== undefined && named !== owner) throw new S3Error('AccessDenied', 'The owner cannot be changed.');
  const grants = new Set<string>();
  for (const grant of list.all('Grant')) {
    const grantee = grant.child('Grantee');
    const permission = grant.text('Permission')?.trim();
    if (grantee === undefined || permission === undefined) throw new S3Error('MalformedACLError');
    addGrant(grants, { id: grantee.text('ID'), uri: grantee.text('URI') }, permission, owner);
  }
  return aclOfGrants(grants);
}

export function addGrant(
  grants: Set<string>,
  grantee: { readonly id: string | undefined; readonly uri: string | undefined },
  permission: string,
  owner: string,
): void {
  if (!['FULL_CONTROL', 'READ', 'WRITE', 'READ_ACP', 'WRITE_ACP'].includes(permission)) {
    throw new S3Error('MalformedACLError', 'A permission is FULL_CONTROL, READ, WRITE, READ_ACP or WRITE_ACP.');
  }
  // What the owner is granted it has anyway.
  if (grantee.id === owner) return;
  if (grantee.uri === undefined) throw new S3Error('NotImplemented', OTHER_GRANTS);
  grants.add(`${grantee.uri} ${permission}`);
}

/** `owner`: the elements that say who that is. */
export function aclXml(acl: string | undefined, owner: string): string {
  const grants = GRANTS[cannedAcl(acl ?? 'private') ?? 'private'].map((grant) => {
    const [uri = '', permission = ''] = grant.split(' ');
    return element('Grant', grantee('Group', field('URI', uri)) + field('Permission', permission));
  });
  const own = element('Grant', grantee('CanonicalUser', owner) + field('Permission', 'FULL_CONTROL'));
  return element('Owner', owner) + element('AccessControlList', own + grants.join(''));
}

function grantee(type: string, inner: string): string {
  return element('Grantee', inner, ` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="${type}"`);
}
