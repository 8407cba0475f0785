import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Bucket } from '@granary/storage/object-store';
import type { LoggedLine } from '../../objects/context.ts';
import type { KeyOutcome, S3Reply } from '../request.ts';
import type { WireRequest } from '../wire-request.ts';
import { logLine, type LoggedRequest } from './log-line.ts';
import { loggedOperation } from './operation-name.ts';

/** A request that was answered, as the conversation knows it. */
export interface AnsweredRequest {
  readonly incoming: IncomingMessage;
  /** Undefined where it was refused before it was one. */
  readonly request: WireRequest | undefined;
  readonly operation: string;
  readonly key: string | null;
  readonly bucket: Bucket | undefined;
  readonly sources: readonly Bucket[];
  readonly reply: S3Reply | undefined;
  readonly errorCode: string | null;
  readonly status: number;
  readonly requestId: string;
  readonly hostId: string;
  readonly ip: string;
  readonly at: number;
  readonly bytesSent: number;
  readonly bytesDeleted: number;
  readonly totalMs: number;
  readonly turnAroundMs: number;
}

const AUTHENTICATION = { header: 'AuthHeader', query: 'QueryString', form: 'POST' } as const;
const LINE_LENGTH_MAX = 16_384;

/** A line for the request itself, one for each key of a list, and one for the source of a copy. */
export function linesOf(answered: AnsweredRequest): LoggedLine[] {
  const { bucket, sources, request, incoming, operation } = answered;
  const lines: LoggedLine[] = [];
  const add = (of: Bucket, logged: Partial<LoggedRequest>) => {
    if (of.settings.logging === undefined) return;
    const whole = { ...common(answered), owner: of.account, bucket: of.name, ...logged };
    lines.push({ bucket: of.id, line: fitting(whole) });
  };
  if (bucket) {
    add(bucket, { operation: loggedOperation(operation, incoming.method ?? '') });
    for (const outcome of answered.reply?.outcomes ?? []) add(bucket, ofKey(outcome));
  }
  for (const source of sources) {
    const part = operation === 'UploadPartCopy' ? 'PART_GET' : 'OBJECT_GET';
    add(source, { operation: `REST.COPY.${part}`, key: sourceKey(request), bytesSent: 0 });
  }
  return lines;
}

function common(answered: AnsweredRequest): LoggedRequest {
  const { incoming, request, key, errorCode, status, requestId, hostId, ip, at } = answered;
  const { bytesSent, totalMs, turnAroundMs } = answered;
  const { method = '', url = '', httpVersion, headers } = incoming;
  const signedBy = request?.signedBy ?? null;
  const signedWith = request?.signedWith ?? null;
  return {
    owner: '-',
    bucket: '-',
    operation: '-',
    at,
    ip,
    requester: request?.caller?.user ?? null,
    requestId,
    key,
    requestLine: `${method} ${withoutSignature(url)} HTTP/${httpVersion}`,
    status,
    errorCode,
    bytesSent,
    objectSize: objectSizeOf(answered),
    totalMs,
    turnAroundMs,
    referer: headers.referer ?? null,
    userAgent: headers['user-agent'] ?? null,
    versionId: request?.query.get('versionId') ?? null,
    hostId,
    signature: signedWith === null ? null : signedWith === 'AWS' ? 'SigV2' : 'SigV4',
    authentication: signedBy === null ? null : AUTHENTICATION[signedBy],
    host: headers.host ?? null,
    ...transport(incoming),
  };
}

/** Who reads the log must not be able to send a presigned request again. */
function withoutSignature(url: string): string {
  return url.replaceAll(/([?&](?:X-Amz-)?Signature=)[^&]*/gi, '$1XXXX');
}

/** A deletion of many is followed by a line for each. */
function ofKey({ key, versionId, status, code, size }: KeyOutcome): Partial<LoggedRequest> {
  return {
    operation: 'BATCH.DELETE.OBJECT',
    key,
    versionId: versionId ?? null,
    status,
    errorCode: code,
    requestLine: null,
    bytesSent: 0,
    objectSize: size === 0 ? null : size,
    totalMs: null,
    turnAroundMs: null,
  };
}

/** Of the whole object, also where a range of it was read. */
function objectSizeOf({ request, reply, status, operation, bytesDeleted }: AnsweredRequest): number | null {
  if (status >= 400) return null;
  if (bytesDeleted > 0 && operation === 'DeleteObject') return bytesDeleted;
  if (operation === 'GetObject' || operation === 'HeadObject') {
    const { 'content-range': range, 'content-length': length } = reply?.headers ?? {};
    const whole = /\/(\d+)$/.exec(range ?? '')?.[1] ?? length;
    return whole === undefined ? null : Number(whole);
  }
  const received = request?.received ?? 0;
  return received === 0 ? null : received;
}

function sourceKey(request: WireRequest | undefined): string | null {
  const path = request?.header('x-amz-copy-source')?.replace(/\?versionId=.*$/, '') ?? '';
  const key = path.replace(/^\//, '').replace(/^[^/]*\//, '');
  try {
    return key === '' ? null : decodeURIComponent(key);
  } catch {
    return key;
  }
}

function transport({ socket }: IncomingMessage): Pick<LoggedRequest, 'cipher' | 'tls'> {
  if (!('encrypted' in socket)) return { cipher: null, tls: null };
  const secure = socket as TLSSocket;
  // A connection that is closed does not tell any more.
  return { cipher: (secure.getCipher() as { name?: string } | undefined)?.name ?? null, tls: secure.getProtocol() };
}

/** Headers may be longer than anybody wants to read. */
function fitting(request: LoggedRequest): string {
  const line = logLine(request);
  if (line.length <= LINE_LENGTH_MAX) return line;
  const cut = (text: string | null) => text?.slice(0, 1024) ?? null;
  const { requestLine, referer, userAgent } = request;
  return logLine({ ...request, requestLine: cut(requestLine), referer: cut(referer), userAgent: cut(userAgent) });
}
