import type { Bucket, ObjectVersion } from '@granary/storage/object-store';
import type { Caller, DataSettings } from '../../objects/context.ts';
import type { S3Query } from '../request.ts';
import type { Lookup } from './pattern.ts';

/** What decisions look at in a request. */
export interface AskingRequest {
  readonly settings: DataSettings;
  readonly now: number;
  readonly ip: string;
  readonly secure: boolean;
  readonly signedBy: 'header' | 'query' | 'form' | null;
  readonly signedWith?: 'AWS' | 'AWS4-HMAC-SHA256' | null | undefined;
  readonly caller: Caller | null;
  readonly query: Pick<S3Query, 'get'>;
  header(name: string): string | undefined;
}

const AUTH_TYPES = { header: 'REST-HEADER', query: 'REST-QUERY-STRING', form: 'POST' } as const;
const HEADER_KEYS = new Set(['s3:if-match', 's3:if-none-match']);
const EXISTING_TAG = 's3:existingobjecttag/';
const REQUEST_TAG = 's3:requestobjecttag/';

/** Values of condition keys (lower-case), worked out when a policy asks for them. */
export function requestKeys(
  request: AskingRequest,
  bucket: Bucket,
  object: () => ObjectVersion | undefined,
  versionId: string | undefined,
): Lookup {
  return (key) => {
    if (key.startsWith('aws:')) return listed(globalKey(request, key));
    if (key.startsWith('s3:x-amz-') || HEADER_KEYS.has(key)) return listed(request.header(key.slice('s3:'.length)));
    if (key.startsWith(EXISTING_TAG)) return listed(object()?.attributes.tags?.[key.slice(EXISTING_TAG.length)]);
    if (key.startsWith(REQUEST_TAG))
      return listed(requestTags(request).get(key.slice(REQUEST_TAG.length)) ?? undefined);
    if (key === 's3:requestobjecttagkeys') return requestTagKeys(request);
    return listed(ownKey(request, bucket, key, versionId));
  };
}

function listed(value: string | undefined): readonly string[] | undefined {
  return value === undefined ? undefined : [value];
}

function globalKey(request: AskingRequest, key: string): string | undefined {
  const { caller } = request;
  switch (key) {
    case 'aws:currenttime':
      return new Date(request.now).toISOString();
    case 'aws:epochtime':
      return String(Math.floor(request.now / 1000));
    case 'aws:securetransport':
      return String(request.secure);
    case 'aws:sourceip':
      return request.ip;
    case 'aws:referer':
      return request.header('referer');
    case 'aws:useragent':
      return request.header('user-agent');
    case 'aws:requestedregion':
      return request.settings.region;
    case 'aws:principaltype':
      return caller ? 'User' : 'Anonymous';
    case 'aws:principalaccount':
      return caller?.account;
    case 'aws:principalarn':
      return caller ? `arn:aws:iam::${caller.account}:user/${caller.username}` : undefined;
    case 'aws:userid':
      return caller?.user;
    case 'aws:username':
      return caller?.username;
  }
  return undefined;
}

function ownKey(
  request: AskingRequest,
  bucket: Bucket,
  key: string,
  versionId: string | undefined,
): string | undefined {
  switch (key) {
    case 's3:prefix':
    case 's3:delimiter':
    case 's3:max-keys':
      return request.query.get(key.slice('s3:'.length));
    case 's3:versionid':
      return versionId;
    case 's3:authtype':
      return request.signedBy === null ? undefined : AUTH_TYPES[request.signedBy];
    case 's3:signatureversion':
      return request.signedWith ?? undefined;
    case 's3:resourceaccount':
      return bucket.account;
    case 's3:locationconstraint':
      return request.settings.region;
    case 's3:object-lock-mode':
    case 's3:object-lock-retain-until-date':
    case 's3:object-lock-legal-hold':
      return request.header(`x-amz-${key.slice('s3:'.length)}`);
  }
  return undefined;
}

function requestTags(request: AskingRequest): URLSearchParams {
  return new URLSearchParams(request.header('x-amz-tagging') ?? '');
}

function requestTagKeys(request: AskingRequest): readonly string[] | undefined {
  const keys = [...requestTags(request).keys()];
  return keys.length > 0 ? keys : undefined;
}
