import { badArgument, S3Error } from '../../errors.ts';
import type { S3Request } from '../../request.ts';
import { addGrant, aclOfGrants, cannedAcl, type CannedAcl } from './acl.ts';

const GRANT_HEADERS = {
  'x-amz-grant-full-control': 'FULL_CONTROL',
  'x-amz-grant-read': 'READ',
  'x-amz-grant-write': 'WRITE',
  'x-amz-grant-read-acp': 'READ_ACP',
  'x-amz-grant-write-acp': 'WRITE_ACP',
} as const;

/** The list that the headers of a request name; undefined where they name none. */
export function aclOfHeaders(request: S3Request, owner: string): CannedAcl | undefined {
  const canned = request.header('x-amz-acl');
  const granted = Object.entries(GRANT_HEADERS).filter(([name]) => request.header(name) !== undefined);
  if (canned !== undefined) {
    if (granted.length > 0) throw new S3Error('InvalidRequest', 'Give x-amz-acl or x-amz-grant-*, not both.');
    const known = cannedAcl(canned);
    if (known === undefined) throw badArgument('x-amz-acl', canned, 'There is no canned ACL of that name here.');
    return known;
  }
  if (granted.length === 0) return undefined;
  const grants = new Set<string>();
  for (const [name, permission] of granted) {
    for (const piece of (request.header(name) ?? '').split(',')) {
      const [kind, value] = granteeOf(piece);
      if (kind === undefined) throw badArgument(name, piece, 'A grantee is id="…" or uri="…".');
      const id = kind.toLowerCase() === 'id' ? value : undefined;
      const uri = kind.toLowerCase() === 'uri' ? value : undefined;
      addGrant(grants, { id, uri }, permission, owner);
    }
  }
  return aclOfGrants(grants);
}

/** `id="…"`, with or without quotes. Read in steps: one pattern for all of it would take cubic time. */
function granteeOf(piece: string): readonly [kind: string | undefined, value: string] {
  const [, kind, rest = ''] = /^(id|uri|emailAddress)[ \t]*=(.*)$/i.exec(piece.trim()) ?? [];
  const value = rest.trim().replaceAll(/^"|"$/g, '');
  return [value.includes('"') ? undefined : kind, value];
}

/** For a new bucket: its owner is who asks. */
export function bucketAclOf(request: S3Request): CannedAcl | undefined {
  return aclOfHeaders(request, request.caller?.account ?? '');
}
