import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Endpoint, UploadedFile } from '@granary/contract';
import { badParameter, fail } from '../errors.ts';
import { SMALL_XML, type XmlLimits } from '../xml/limits.ts';
import { NONE, parseForm, type Raw } from './form.ts';
import { fromMultipart } from './multipart.ts';

export type { Raw } from './form.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Before authentication, for any content type: a name, a password and a little more. */
const UNAUTHENTICATED = { bytesMax: 64 * KIB, parametersMax: 1_000 };
const BODY = { bytesMax: 2 * MIB, parametersMax: 10_000 };
const UPLOAD_BYTES_MAX = 10 * MIB;

const BEFORE_SIGN_IN = ' before sign-in; send the key in a header';

/** What an operation takes as its body. Other routes have none, and what is sent to them is not read. */
export interface AcceptedBody {
  /** Of multipart bodies and octets. */
  readonly uploadBytesMax: number;
  readonly xmlBytesMax: number;
  readonly xmlElementsMax: number;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    body?: AcceptedBody;
  }
  interface FastifyRequest {
    /** Set before the body is read, if the key was found without it. */
    isSignedIn: boolean;
  }
}

export function acceptedBody({ params, body }: Endpoint): AcceptedBody {
  const takesFiles = Object.values(params).some(({ kind }) => kind === 'file');
  return {
    uploadBytesMax: takesFiles ? UPLOAD_BYTES_MAX : BODY.bytesMax,
    xmlBytesMax: body?.xmlBytesMax ?? SMALL_XML.lengthMax,
    xmlElementsMax: body?.xmlElementsMax ?? SMALL_XML.elementsMax,
  };
}

interface Content {
  readonly bytes: Buffer;
  readonly type: string;
  readonly accepted: AcceptedBody;
  readonly parametersMax: number;
}

interface Kind {
  readonly type: string | RegExp;
  bytesMax(accepted: AcceptedBody): number;
  /** Part of the error message when the limit is exceeded. */
  readonly note?: string;
  read(content: Content): Raw | Promise<Raw>;
}

const kinds: readonly Kind[] = [
  { type: /^application\/(.+\+)?json/, bytesMax: () => BODY.bytesMax, read: fromJson },
  { type: /^application\/x-www-form-urlencoded/, bytesMax: () => BODY.bytesMax, read: fromForm },
  {
    type: /^(application|text)\/(.+\+)?xml/,
    bytesMax: ({ xmlBytesMax }) => xmlBytesMax,
    note: ' of XML; send it as JSON',
    read: fromXml,
  },
  {
    type: /^multipart\/form-data/,
    bytesMax: ({ uploadBytesMax }) => uploadBytesMax,
    read: ({ bytes, type, parametersMax }) => fromMultipart(bytes, type, parametersMax),
  },
];

const octets: Kind = {
  type: 'application/octet-stream',
  bytesMax: ({ uploadBytesMax }) => uploadBytesMax,
  read: ({ bytes }) => ({ octets: { filename: '', bytes } satisfies UploadedFile }),
};

/** Teaches the server to read forms, JSON, XML and multipart, on every verb. */
export function acceptBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.decorateRequest('isSignedIn', false);
  app.decorateRequest('asking', undefined);
  for (const kind of kinds) accept(app, kind);
  accept(app, {
    type: '*',
    bytesMax: () => BODY.bytesMax,
    read({ type }) {
      throw fail('unsupported_content', { type });
    },
  });
}

/** Bytes as they are, under the name `octets`; everything else travels in the query then. */
export function acceptOctets(app: FastifyInstance): void {
  accept(app, octets);
}

function accept(app: FastifyInstance, kind: Kind): void {
  app.addContentTypeParser(kind.type, async (request: FastifyRequest, payload: IncomingMessage) => {
    const accepted = request.routeOptions.config.body;
    if (!accepted) {
      payload.resume();
      return NONE;
    }
    const { isSignedIn } = request;
    const limit = isSignedIn ? kind.bytesMax(accepted) : Math.min(UNAUTHENTICATED.bytesMax, kind.bytesMax(accepted));
    const bytes = await readWhole(payload, limit, isSignedIn ? (kind.note ?? '') : BEFORE_SIGN_IN);
    // An empty body has no parameters, whatever its type.
    if (bytes.length === 0) return NONE;
    const type = request.headers['content-type'] ?? '(none)';
    const { parametersMax } = isSignedIn ? BODY : UNAUTHENTICATED;
    return kind.read({ bytes, type, accepted, parametersMax });
  });
}

function readWhole(payload: IncomingMessage, limit: number, note: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const refuse = () => {
      payload.off('data', onData).resume();
      reject(fail('too_large', { limit: `${sizeText(limit)}${note}` }));
    };
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > limit) refuse();
    };
    payload.once('end', () => resolve(Buffer.concat(chunks, length)));
    const cutOff = () => reject(badParameter('body', 'is cut off'));
    payload.on('error', cutOff).once('close', cutOff);
    if (Number(payload.headers['content-length'] ?? 0) > limit) refuse();
    else payload.on('data', onData);
  });
}

function sizeText(bytes: number): string {
  return bytes >= MIB ? `${bytes / MIB} MiB` : `${bytes / KIB} KiB`;
}

function fromJson({ bytes }: Content): Raw {
  const text = bytes.toString();
  if (text.trim() === '') return NONE;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badParameter('body', 'is not valid JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badParameter('body', 'must be a JSON object of parameters');
  }
  // The one name that would not merge as a parameter: it would replace what the others are looked up in.
  delete (value as Raw)['__proto__'];
  return value as Raw;
}

function fromForm({ bytes, parametersMax }: Content): Raw {
  return parseForm(bytes.toString(), 'body', parametersMax);
}

/** Few callers write XML: its reader is loaded for the first of them. */
async function fromXml({ bytes, accepted }: Content): Promise<Raw> {
  const text = bytes.toString();
  if (text.trim() === '') return NONE;
  const { readXml } = await import('./xml-reader.ts');
  const { xmlBytesMax, xmlElementsMax } = accepted;
  const limits: XmlLimits = { lengthMax: xmlBytesMax, elementsMax: xmlElementsMax, depthMax: SMALL_XML.depthMax };
  try {
    return readXml(text, limits);
  } catch (error) {
    throw badParameter('body', `is not valid XML: ${(error as Error).message.slice(0, 200)}`);
  }
}
