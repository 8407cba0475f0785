import type { OutgoingHttpHeaders } from 'node:http';
import type { Bucket, ObjectStore } from '@granary/storage/object-store';
import type { SwiftAccess } from '../access/access.ts';
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

/** `format=` wins over Accept; a format that is not offered gets plain text. */
export function formatOf(request: Pick<SwiftRequest, 'query' | 'header'>): Format {
  const named = request.query.get('format');
  if (named !== undefined) return BY_NAME[named.toLowerCase()] ?? 'plain';
  for (const range of (request.header('accept') ?? '').split(',')) {
    const format = BY_TYPE[range.split(';', 1)[0]?.trim().toLowerCase() ?? ''];
    if (format !== undefined) return format;
  }
  return 'plain';
}

export const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  plain: 'text/plain; charset=utf-8',
  json: 'application/json; charset=utf-8',
  xml: 'application/xml; charset=utf-8',
};
