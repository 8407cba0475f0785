import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorCatalogue } from '@granary/contract';
import type { GranaryError } from '../errors.ts';
import { statusText } from '../http/envelope.ts';
import { formatOfAccept } from '../http/format.ts';
import { PROTECTION } from './headers.ts';

/** What clients behind it speak: the management of an array, or S3. */
export type Door = 'api' | 's3';

interface Refused {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** As the array would say it: its management in its dialect, its data port as S3 does. */
export function refuseRelay(error: GranaryError, { request, response }: Refused, door: Door): void {
  const isXml = door === 's3' || formatOfAccept(request.headers.accept) === 'xml';
  const { http, code, ...entry } = errorCatalogue[error.entry] as { http: number; code: number; keepsHttp?: true };
  const status = door === 's3' || entry.keepsHttp ? http : 200;
  const text = door === 's3' ? s3Error(error) : statusText(code, error.message, isXml ? 'xml' : 'json');
  write(response, status, text, {
    ...error.headers,
    'content-type': `application/${isXml ? 'xml' : 'json'}; charset=utf-8`,
  });
}

function write(response: ServerResponse, status: number, text: string, headers: Record<string, string>): void {
  response.writeHead(status, { ...headers, ...PROTECTION, 'content-length': Buffer.byteLength(text) });
  response.end(response.req.method === 'HEAD' ? undefined : text);
}

const S3_CODES: Readonly<Partial<Record<GranaryError['entry'], string>>> = {
  array_unreachable: 'ServiceUnavailable',
  passages_limit: 'SlowDown',
  relay_timeout: 'RequestTimeout',
  internal: 'InternalError',
  not_found: 'NoSuchResource',
  unknown_path: 'NoSuchResource',
  invalid_credentials: 'AccessDenied',
};

function s3Error({ entry, message }: GranaryError): string {
  const escaped = message.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${S3_CODES[entry] ?? 'AccessDenied'}</Code><Message>${escaped}</Message></Error>`;
}
