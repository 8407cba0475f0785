import type { Conditions, WrittenVersion } from '@granary/storage/object-store';
import { SwiftRefusal } from '../request/refusal.ts';
import type { SwiftReply, SwiftRequest } from '../request/request.ts';
import { shownEtag } from './attributes.ts';

/** Of conditional puts Swift knows `If-None-Match: *` alone. */
export function putConditions(request: SwiftRequest): { readonly conditions?: Conditions } {
  const ifNoneMatch = request.header('if-none-match');
  if (ifNoneMatch === undefined) return {};
  if (ifNoneMatch.trim() !== '*') throw new SwiftRefusal(400, 'If-None-Match only supports *');
  return { conditions: { ifNoneMatch: '*' } };
}

export function createdReply(version: WrittenVersion): SwiftReply {
  return {
    status: 201,
    headers: {
      Etag: shownEtag(version),
      'Last-Modified': new Date(version.modifiedAt).toUTCString(),
      ...(version.versionId === 'null' ? {} : { 'X-Object-Version-Id': version.versionId }),
    },
  };
}
