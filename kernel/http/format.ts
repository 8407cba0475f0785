import type { FastifyRequest } from 'fastify';

export type Format = 'json' | 'xml';

declare module 'http' {
  interface IncomingMessage {
    /** The format requested by the suffix of the path. */
    format?: Format | undefined;
  }
}

export interface Address {
  /** The path as in the routes, without version and suffix. */
  readonly url: string;
  /** The format of a suffix; undefined leaves it to the Accept header. */
  readonly format: Format | undefined;
}

const SUFFIX = /\.(json|xml)\/?$/;
const VERSION = /^\/api\/v\d+(?=\/|$)/;
/** Paths whose ending is part of their name. */
const AS_IS = /^(?!\/api\/)|^\/api\/(openapi\.json$|docs\/)/;

/** `/api/v2/arrays/7.xml?x=1` means `/api/arrays/7?x=1` in XML. */
export function readAddress(url: string): Address {
  const mark = url.indexOf('?');
  const path = (mark === -1 ? url : url.slice(0, mark)).replace(VERSION, '/api');
  const suffix = SUFFIX.exec(path);
  const plain = suffix && !AS_IS.test(path) ? path.slice(0, suffix.index) : path;
  const format = plain === path ? undefined : (suffix?.[1] as Format);
  return { url: mark === -1 ? plain : plain + url.slice(mark), format };
}

export function formatOf(request: FastifyRequest): Format {
  return request.raw.format ?? formatOfAccept(request.headers.accept);
}

/** The preferred of JSON and XML; JSON by default. */
export function formatOfAccept(accept: string | undefined): Format {
  if (accept === undefined || !accept.includes('xml')) return 'json';
  let best: { format: Format; quality: number } = { format: 'json', quality: 0 };
  for (const part of accept.split(',')) {
    const [type = '', ...parameters] = part.trim().toLowerCase().split(';');
    const format = formatOfType(type);
    const stated = parameters.map((text) => /^\s*q=([\d.]+)$/.exec(text)?.[1]).find((text) => text !== undefined);
    const quality = stated === undefined ? 1 : Number(stated);
    if (format !== undefined && quality > best.quality) best = { format, quality };
  }
  return best.format;
}

function formatOfType(type: string): Format | undefined {
  if (type === 'application/xml' || type === 'text/xml') return 'xml';
  return ['application/json', 'application/*', '*/*'].includes(type) ? 'json' : undefined;
}
