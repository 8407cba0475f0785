import type { FastifyInstance, FastifyRequest } from 'fastify';
import qs from 'qs';
import type { UploadedFile } from '@granary/contract';
import { badParameter, fail } from '../errors.ts';

export type Raw = Record<string, unknown>;

export const BODY_BYTES_MAX = 2 * 2 ** 20;
const UPLOAD_BYTES_MAX = 10 * 2 ** 20;
const PARAMETERS_MAX = 10_000;
const NONE: Raw = Object.freeze({});

/** `name[]=a`, `quotas[0][source_id]=7`: nesting as forms write it, within limits. */
export function parseForm(text: string): Raw {
  if (text === '') return NONE;
  return qs.parse(text, { depth: 5, arrayLimit: 1000, parameterLimit: PARAMETERS_MAX });
}

/** Teaches the server to read forms, JSON, XML and multipart, on every verb. */
export function acceptBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  acceptText(app, /^application\/(.+\+)?json/, fromJson);
  acceptText(app, /^application\/x-www-form-urlencoded/, fromForm);
  app.addContentTypeParser(
    /^(application|text)\/(.+\+)?xml/,
    { parseAs: 'string' },
    (_: FastifyRequest, body: string) => fromXml(body),
  );
  acceptText(app, '*', (_, type) => {
    throw fail('unsupported_content', { type });
  });
  const whole = { parseAs: 'buffer', bodyLimit: UPLOAD_BYTES_MAX } as const;
  app.addContentTypeParser(/^multipart\/form-data/, whole, (request: FastifyRequest, body: Buffer) =>
    fromMultipart(body, request.headers['content-type'] ?? ''),
  );
}

/** Bytes as they are, under the name `octets`; everything else travels in the query then. */
export function acceptOctets(app: FastifyInstance): void {
  const whole = { parseAs: 'buffer', bodyLimit: UPLOAD_BYTES_MAX } as const;
  app.addContentTypeParser('application/octet-stream', whole, (_: FastifyRequest, bytes: Buffer, done) => {
    const octets: UploadedFile = { filename: '', bytes };
    done(null, { octets });
  });
}

/** An empty body has no parameters, whatever its type. */
function acceptText(app: FastifyInstance, type: string | RegExp, read: (text: string, type: string) => Raw): void {
  app.addContentTypeParser(type, { parseAs: 'string' }, (request, body, done) => {
    try {
      const text = body as string;
      done(null, text.trim() === '' ? NONE : read(text, request.headers['content-type'] ?? '(none)'));
    } catch (error) {
      done(error as Error);
    }
  });
}

function fromJson(text: string): Raw {
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

function fromForm(text: string): Raw {
  let count = 1;
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) count += 1;
  if (count > PARAMETERS_MAX) throw badParameter('body', `must have at most ${PARAMETERS_MAX} parameters`);
  return parseForm(text);
}

/** Few callers write XML: its reader is loaded for the first of them. */
async function fromXml(text: string): Promise<Raw> {
  if (text.trim() === '') return NONE;
  const { readXml } = await import('./xml-reader.ts');
  try {
    return readXml(text);
  } catch (error) {
    throw badParameter('body', `is not valid XML: ${(error as Error).message.slice(0, 200)}`);
  }
}

/** Uploads are read whole: they are small. */
async function fromMultipart(bytes: Buffer, type: string): Promise<Raw> {
  if (bytes.length === 0) return NONE;
  const files: Record<string, UploadedFile> = {};
  const pairs: string[] = [];
  for (const [name, value] of await readParts(bytes, type)) {
    if (typeof value === 'string') pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
    // A form sends an empty part for a file nobody chose.
    else if (value.name !== '' && name !== '__proto__') {
      files[name] = { filename: value.name, bytes: new Uint8Array(await value.arrayBuffer()) };
    }
  }
  return { ...fromForm(pairs.join('&')), ...files };
}

async function readParts(bytes: Buffer, type: string): Promise<FormData> {
  try {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- it warns of bodies without a limit; ours has one
    return await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
  } catch {
    throw badParameter('body', 'is not valid multipart/form-data');
  }
}
