import type { OutgoingHttpHeaders } from 'node:http';
import type { Bucket, Cause, ObjectStore } from '@granary/storage/object-store';
import type { SwiftAccess } from '../access/access.ts';
import { SwiftRefusal } from './refusal.ts';
import type { AccountState, Caller, DataContext, DataSettings } from '../../objects/context.ts';
import type { Query } from './address.ts';
import type { SwiftRequestBody } from './body.ts';

/** An authenticated request about an account, a container or an object. Handlers check what the user may do. */
export interface SwiftRequest {
  readonly context: DataContext;
  readonly store: ObjectStore;
  readonly settings: DataSettings;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly method: string;
  readonly query: Query;
  readonly body: SwiftRequestBody;
  readonly account: AccountState;
  /** Null for anonymous callers and temporary URLs. */
  readonly caller: Caller | null;
  readonly access: SwiftAccess;
  /** For changes: the request they come from. */
  readonly cause: Cause;
  /** By lower-case name; text as the client meant it. */
  header(name: string): string | undefined;
  /** All headers that begin so, by what follows. */
  headersWith(prefix: string): ReadonlyMap<string, string>;
  /** Tells the records what the request is about. */
  concerns(bucket: Bucket): void;
  /** Before something is changed, once it is clear that the caller may: throws while the account is over its rate. */
  demandRate(): void;
  /** From here on the body is object data and is metered. */
  meterBody(): void;
}

export interface ContainerRequest extends SwiftRequest {
  readonly container: string;
}

export interface ObjectRequest extends ContainerRequest {
  readonly object: string;
}

export interface SwiftReply {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  /** A string is a document; bytes are object data and are metered. With an iterable, give content-length if it is known. */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** Bytes of objects that went. */
  readonly bytesDeleted?: number;
}

/** Formats of listings and reports. */
export type Format = 'plain' | 'json' | 'xml';

const BY_NAME: Readonly<Record<string, Format>> = { plain: 'plain', json: 'json', xml: 'xml' };
const BY_TYPE: Readonly<Record<string, Format>> = {
  'text/plain': 'plain',
  'application/json': 'json',
  'application/xml': 'xml',
  'text/xml': 'xml',
};

/** In the order in which they are offered to who accepts several alike. */
const OFFERED: readonly (readonly [type: string, format: Format])[] = Object.entries(BY_TYPE);
const MEDIA_RANGE = /^([\w!#$&^.+-]+|\*)\/([\w!#$&^.+-]+|\*)((?:\s*;[^;,]*)*)$/;
const MEDIA_RANGES_MAX = 50;

interface MediaRange {
  readonly type: string;
  readonly quality: number;
}

function mediaRange(text: string): MediaRange {
  const [, type = '', subtype = '', parameters = ''] = MEDIA_RANGE.exec(text.trim()) ?? [];
  const quality = Number(/;\s*q\s*=\s*([\d.]+)/i.exec(parameters)?.[1] ?? 1);
  if (type === '' || Number.isNaN(quality)) throw new SwiftRefusal(400, 'Invalid Accept header');
  return { type: `${type}/${subtype}`.toLowerCase(), quality };
}

function covers(range: string, type: string): boolean {
  return range === '*/*' || range === type || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)));
}

/** By Accept, what is wanted most first; 406 where nothing of it is offered. */
function acceptedFormat(accept: string): Format {
  const ranges = accept.split(',', MEDIA_RANGES_MAX).map(mediaRange);
  for (const { type: range, quality } of ranges.toSorted((a, b) => b.quality - a.quality)) {
    const offered = quality > 0 ? OFFERED.find(([type]) => covers(range, type)) : undefined;
    if (offered) return offered[1];
  }
  throw new SwiftRefusal(406, 'Listings and reports are text/plain, application/json, application/xml or text/xml.');
}

/** `format=` wins over Accept; a name of a format that is not offered gets plain text. */
export function formatOf(request: Pick<SwiftRequest, 'query' | 'header'>, otherwise: Format = 'plain'): Format {
  const named = request.query.get('format');
  if (named !== undefined && named !== '') return BY_NAME[named.toLowerCase()] ?? 'plain';
  const accept = request.header('accept')?.trim() ?? '';
  return accept === '' || accept === '*/*' ? otherwise : acceptedFormat(accept);
}

export const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  plain: 'text/plain; charset=utf-8',
  json: 'application/json; charset=utf-8',
  xml: 'application/xml; charset=utf-8',
};
