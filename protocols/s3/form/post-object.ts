import type { IncomingHttpHeaders } from 'node:http';
import type { Caller, Soon } from '../../objects/context.ts';
import { checkKey } from '../address.ts';
import { S3Error } from '../errors.ts';
import type { S3Reply, S3Request } from '../request.ts';
import type { FormSignature, SignatureVersion } from '../signature/authenticate.ts';
import { headerText } from '../wire-request.ts';
import { field, xmlDocument } from '../xml.ts';
import { readXml } from '../xml-reader.ts';
import type { Form } from './multipart.ts';
import { checkFormPolicy, type SizeRange } from './policy.ts';

/** Fields that are headers by another way. */
const HEADER_FIELDS = new Set([
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-md5',
  'content-type',
  'expires',
  'if-match',
  'if-none-match',
]);
const SIGNED_BY = ['x-amz-signature', 'signature', 'awsaccesskeyid'];
const SIGNATURE_FIELDS = /^x-amz-(?:algorithm|credential|date|signature|security-token)$/;

/** A form with its policy checked; what is left is an ordinary PUT. */
export interface PostedObject {
  readonly key: string;
  readonly headers: IncomingHttpHeaders;
  readonly caller: Caller | null;
  readonly signedWith: SignatureVersion | null;
  readonly range: SizeRange | null;
}

export interface FormChecks {
  readonly bucket: string;
  readonly now: number;
  authenticate(field: (name: string) => string | undefined, policy: string): Soon<FormSignature>;
}

/** More than any key has; what is longer is refused as too long. */
const KEY_LENGTH_MAX = 4096;

export async function checkForm(form: Form, checks: FormChecks): Promise<PostedObject> {
  const fields = new Map(form.fields);
  fields.set('bucket', checks.bucket);
  const key = keyOf(fields.get('key') ?? '', form.filename);
  if (key === '') throw new S3Error('InvalidArgument', "Bucket POST must contain a field named 'key'.");
  checkKey(key);
  fields.set('key', key);
  return { key, headers: headersOf(fields, form), ...(await identify(fields, checks)) };
}

const FILENAME = '${filename}';

/** A key that would get too long is not put together: a form may name the file thousands of times. */
function keyOf(pattern: string, filename: string): string {
  const places = pattern.split(FILENAME).length - 1;
  const length = pattern.length + places * (filename.length - FILENAME.length);
  return length > KEY_LENGTH_MAX ? pattern.padEnd(KEY_LENGTH_MAX + 1, '.') : pattern.replaceAll(FILENAME, filename);
}

/** Without a policy the form is anonymous, and the bucket needs public write access. */
async function identify(
  fields: ReadonlyMap<string, string>,
  checks: FormChecks,
): Promise<Omit<PostedObject, 'key' | 'headers'>> {
  if (fields.has('x-amz-security-token')) throw new S3Error('InvalidToken');
  const policy = fields.get('policy');
  if (policy === undefined) {
    const signed = SIGNED_BY.find((name) => fields.has(name));
    if (signed !== undefined) throw new S3Error('InvalidArgument', 'A signed form needs a policy.');
    return { caller: null, signedWith: null, range: null };
  }
  const signature = await checks.authenticate((name) => fields.get(name), policy);
  return { ...signature, range: checkFormPolicy(policy, fields, checks.now) };
}

function headersOf(fields: ReadonlyMap<string, string>, form: Form): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {};
  for (const [name, value] of fields) {
    if (HEADER_FIELDS.has(name) || (name.startsWith('x-amz-') && !SIGNATURE_FIELDS.test(name))) {
      headers[name] = headerText(name, value);
    }
  }
  const acl = fields.get('acl');
  if (acl !== undefined) headers['x-amz-acl'] = headerText('acl', acl);
  if (headers['content-type'] === undefined && form.fileType !== undefined) {
    headers['content-type'] = headerText('content-type', form.fileType);
  }
  const tagging = fields.get('tagging');
  if (tagging !== undefined) setLazily(headers, 'x-amz-tagging', () => taggingHeader(tagging));
  return headers;
}

/** The XML is parsed on first use, after the check that the user may write to the bucket. */
function setLazily(headers: IncomingHttpHeaders, name: string, read: () => string): void {
  let value: string | undefined;
  Object.defineProperty(headers, name, { enumerable: true, configurable: true, get: () => (value ??= read()) });
}

/** A form has tags as XML, a header has them like a query. */
function taggingHeader(xml: string): string {
  const tags = readXml(xml, 'Tagging').child('TagSet')?.all('Tag') ?? [];
  return new URLSearchParams(tags.map((tag): [string, string] => [tag.need('Key'), tag.need('Value')])).toString();
}

/** The file's size is known at its end, so the policy's range is asked then; too large a file stops earlier. */
export function sizeCheck(range: SizeRange | null): ((size: number, ended: boolean) => void) | undefined {
  if (!range) return undefined;
  return (size, ended) => {
    if (size > range.most) {
      throw new S3Error('EntityTooLarge', 'The file is larger than the policy allows.', {
        ProposedSize: String(size),
        MaxSizeAllowed: String(range.most),
      });
    }
    if (ended && size < range.least) {
      throw new S3Error('EntityTooSmall', 'The file is smaller than the policy allows.', {
        ProposedSize: String(size),
        MinSizeAllowed: String(range.least),
      });
    }
  };
}

/** The reply that the form asks for instead of that of a PUT. */
export function formReply(
  reply: S3Reply,
  request: S3Request,
  fields: ReadonlyMap<string, string>,
  publicUrl: string,
): S3Reply {
  const { key, bucket } = request;
  const etag = reply.headers?.etag ?? '';
  const location = `${publicUrl}/${encodeURIComponent(bucket.name)}/${key.split('/').map(encodeURIComponent).join('/')}`;
  const redirect = redirectTarget(fields.get('success_action_redirect') ?? fields.get('redirect'));
  if (redirect) {
    redirect.searchParams.append('bucket', bucket.name);
    redirect.searchParams.append('key', key);
    redirect.searchParams.append('etag', etag);
    return { status: 303, headers: { ...reply.headers, location: redirect.href } };
  }
  const headers = { ...reply.headers, location };
  const wanted = fields.get('success_action_status');
  if (wanted === '200') return { status: 200, headers };
  if (wanted !== '201') return { status: 204, headers };
  const inner = field('Location', location) + field('Bucket', bucket.name) + field('Key', key) + field('ETag', etag);
  return { status: 201, headers, body: xmlDocument('PostResponse', inner) };
}

function redirectTarget(text: string | undefined): URL | undefined {
  const url = text === undefined ? null : URL.parse(text);
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url : undefined;
}
