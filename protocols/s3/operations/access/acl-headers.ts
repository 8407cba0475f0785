import { type AccessList, isCanned } from '../../access/grants.ts';
import { badArgument, S3Error } from '../../errors.ts';
import type { S3Request } from '../../request.ts';
import { listOfGrants, type NamedGrant } from './acl.ts';

const GRANT_HEADERS = {
  'x-amz-grant-full-control': 'FULL_CONTROL',
  'x-amz-grant-read': 'READ',
  'x-amz-grant-write': 'WRITE',
  'x-amz-grant-read-acp': 'READ_ACP',
  'x-amz-grant-write-acp': 'WRITE_ACP',
} as const;

const KINDS: Readonly<Record<string, NamedGrant['kind']>> = { id: 'id', uri: 'uri', emailaddress: 'emailAddress' };

/** The list that the headers of a request name; undefined where they name none. */
export async function aclOfHeaders(request: S3Request, owner: string): Promise<AccessList | undefined> {
  const canned = request.header('x-amz-acl');
  const grants = grantsOfHeaders((name) => request.header(name));
  if (canned === undefined) return grants === undefined ? undefined : listOfGrants(request, grants, owner);
  if (grants !== undefined) throw new S3Error('InvalidRequest', 'Give x-amz-acl or x-amz-grant-*, not both.');
  if (!isCanned(canned)) throw badArgument('x-amz-acl', canned, 'There is no canned ACL of that name here.');
  return { acl: canned };
}

/** What the `x-amz-grant-*` headers say; undefined without any. */
export function grantsOfHeaders(header: (name: string) => string | undefined): NamedGrant[] | undefined {
  const grants: NamedGrant[] = [];
  let isGiven = false;
  for (const [name, permission] of Object.entries(GRANT_HEADERS)) {
    const value = header(name);
    if (value === undefined) continue;
    isGiven = true;
    for (const piece of value.split(',')) grants.push({ ...granteeOf(name, piece), permission });
  }
  return isGiven ? grants : undefined;
}

/** `id="…"`, with or without quotes. Read in steps: one pattern for all of it would take cubic time. */
function granteeOf(header: string, piece: string): Pick<NamedGrant, 'kind' | 'name'> {
  const [, word = '', rest = ''] = /^(id|uri|emailAddress)[ \t]*=(.*)$/i.exec(piece.trim()) ?? [];
  const kind = Object.hasOwn(KINDS, word.toLowerCase()) ? KINDS[word.toLowerCase()] : undefined;
  const name = rest.trim().replaceAll(/^"|"$/g, '');
  if (kind === undefined || name.includes('"')) {
    throw badArgument(header, piece, 'A grantee is id="…", emailAddress="…" or uri="…".');
  }
  return { kind, name };
}
