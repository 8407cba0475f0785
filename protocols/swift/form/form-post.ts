import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Bucket } from '@granary/storage/object-store';
import { S3Error } from '../../s3/errors.ts';
import { boundaryOf, PartReader, readPartHeader, type PartHeader } from '../../s3/form/multipart.ts';
import { unauthorized, type TemporaryGrant } from '../access/access.ts';
import { readSignature, type TempUrlKey } from '../access/temp-url.ts';
import { findContainer } from '../containers/find.ts';
import { expiryOf, newAttributes } from '../objects/attributes.ts';
import { commitPut } from '../objects/legacy-versions.ts';
import { demandRoom, MAX_OBJECT_SIZE, stageStream } from '../objects/upload.ts';
import { checkNames } from '../request/address.ts';
import { escapeMarkup, refusalOf, statusText, SwiftRefusal } from '../request/refusal.ts';
import { headerValue } from '../request/text.ts';
import type { ContainerRequest, SwiftReply, SwiftRequest } from '../request/request.ts';

/**
 * FormPOST: a page of another site sends files straight here, with a form that the owner of a temporary URL key has
 * signed. All fields stand before the files; what the files are named after is the address of the form.
 */

const FIELDS_MAX = 100;
const FIELD_BYTES_MAX = 64 * 1024;
const FILES_MAX = 1000;

type Fields = ReadonlyMap<string, string>;

export interface PostedForm {
  readonly reader: PartReader;
  /** Of the first file, which was just begun. */
  readonly first: PartHeader;
  readonly fields: Fields;
  readonly path: string;
}

function invalid(message: string): SwiftRefusal {
  return new SwiftRefusal(400, `FormPost: ${message}`);
}

/** The reader of forms is S3's, and so are its errors. */
async function reading<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof S3Error) throw invalid('the form cannot be read');
    throw error;
  }
}

export function isFormPost(method: string, contentType: string | undefined): boolean {
  return method === 'POST' && /^multipart\/form-data\s*;/i.test(contentType ?? '');
}

/** Reads the fields up to the first file. */
export async function readForm(
  contentType: string,
  source: AsyncIterable<Uint8Array>,
  path: string,
): Promise<PostedForm> {
  const fields = new Map<string, string>();
  const read = async (): Promise<PostedForm | undefined> => {
    const reader = new PartReader(source, boundaryOf(contentType));
    await reader.begin();
    let left = FIELD_BYTES_MAX;
    for (let count = 0; count < FIELDS_MAX && (await reader.next()); count++) {
      const header = readPartHeader(await reader.header());
      if (header.filename !== '') return { reader, first: header, fields, path };
      const value = await reader.value(left);
      left -= value.length;
      const name = header.name.toLowerCase();
      if (!fields.has(name)) fields.set(name, value.toString('utf8').trim());
    }
    return undefined;
  };
  const form = await reading(read());
  if (form === undefined) throw invalid('no files to process');
  return form;
}

function integer(fields: Fields, name: string): number {
  const text = fields.get(name) ?? '';
  if (!/^\d{1,15}$/.test(text)) throw invalid(`${name} not an integer`);
  return Number(text);
}

/** What the form opens; refused where it has expired or none of the keys signed it. */
export function formGrant(
  form: PostedForm,
  account: string,
  container: string,
  keys: readonly TempUrlKey[],
  now: number,
): TemporaryGrant {
  const { fields, path } = form;
  const expires = integer(fields, 'expires');
  if (expires * 1000 < now) throw unauthorized(account, 'FormPost: Form Expired');
  const signed = [
    path,
    ...['redirect', 'max_file_size', 'max_file_count', 'expires'].map((name) => fields.get(name) ?? ''),
  ];
  const signature = readSignature(fields.get('signature') ?? '');
  const key = keys.find((each) => {
    if (signature === undefined) return false;
    const right = createHmac(signature.algorithm, each.key).update(signed.join('\n')).digest();
    return right.length === signature.value.length && timingSafeEqual(right, signature.value);
  });
  if (key === undefined) throw unauthorized(account, 'FormPost: Invalid Signature');
  return { account, container: key.scope === 'account' ? null : container, writes: true };
}

async function* limited(
  bytes: AsyncIterable<Uint8Array>,
  limit: number,
  message: string,
): AsyncGenerator<Uint8Array, void> {
  let left = limit;
  for await (const chunk of bytes) {
    left -= chunk.length;
    if (left < 0) throw new SwiftRefusal(413, message);
    yield chunk;
  }
}

/** The fields of a form and the header of a file, as the headers of a PUT. */
function headersOf(
  request: SwiftRequest,
  { fields }: PostedForm,
  file: PartHeader,
): Pick<SwiftRequest, 'header' | 'headersWith' | 'now'> {
  const given = new Map([
    ['content-type', file.type],
    ['x-delete-at', fields.get('x_delete_at')],
    ['x-delete-after', fields.get('x_delete_after')],
  ]);
  return { header: (name) => given.get(name), headersWith: () => new Map(), now: request.now };
}

interface Place {
  readonly bucket: Bucket;
  /** What names of files are put behind. */
  readonly prefix: string;
}

async function storeFile(
  request: SwiftRequest,
  form: PostedForm,
  { bucket, prefix }: Place,
  file: PartHeader,
): Promise<void> {
  const { store, account, access, now } = request;
  const key = `${prefix}${file.filename}`;
  checkNames(bucket.name, key);
  access.demand(access.mayPut(bucket, key), account.id);
  const headers = headersOf(request, form, file);
  const attributes = newAttributes(headers, key);
  const expiresAt = expiryOf(headers) ?? null;
  const allowed = integer(form.fields, 'max_file_size');
  const room = demandRoom(request, account, bucket, 0);
  const message = room < allowed ? 'Upload exceeds quota.' : 'FormPost: max_file_size exceeded';
  const bytes = limited(form.reader.data(), Math.min(allowed, room, MAX_OBJECT_SIZE), message);
  const uploaded = await reading(stageStream(store, bucket, bytes, undefined));
  const owner = bucket.settings.owner ?? '';
  const cause = { ...request.cause, event: 'ObjectCreated:Post' } as const;
  const args = { bucket: bucket.id, key, ...uploaded, owner, attributes, expiresAt, cause, at: now };
  await commitPut(request, bucket, args);
}

async function storeFiles(request: SwiftRequest, form: PostedForm, place: Place): Promise<void> {
  const most = Math.min(integer(form.fields, 'max_file_count'), FILES_MAX);
  let file: PartHeader | undefined = form.first;
  for (let count = 1; file !== undefined; count++) {
    if (count > most) throw invalid('max_file_count exceeded');
    await storeFile(request, form, place, file);
    file = await reading(nextFile(form.reader));
  }
}

/** Fields behind a file are not looked at. */
async function nextFile(reader: PartReader): Promise<PartHeader | undefined> {
  await reader.value(0);
  for (let count = 0; count < FIELDS_MAX && (await reader.next()); count++) {
    const header = readPartHeader(await reader.header());
    if (header.filename !== '') return header;
    await reader.value(FIELD_BYTES_MAX);
  }
  return undefined;
}

/** Where the browser goes afterwards, with what became of the files in the query. */
function redirected(redirect: string, status: number, message: string): SwiftReply {
  const more = new URLSearchParams({ status: String(status), message });
  const location = `${redirect}${redirect.includes('?') ? '&' : '?'}${more.toString()}`;
  const body = `<html><body><p><a href="${escapeMarkup(location)}">Click to continue...</a></p></body></html>`;
  return {
    status: 303,
    headers: { Location: headerValue(location), 'Content-Type': 'text/html; charset=UTF-8' },
    body,
  };
}

/** Stores the files of a form whose signature is good. */
export async function storeForm(request: ContainerRequest, form: PostedForm, object: string): Promise<SwiftReply> {
  const redirect = form.fields.get('redirect') ?? '';
  const bucket = findContainer(request, (found) => request.access.mayPut(found, object));
  request.demandRate();
  request.meterBody();
  try {
    await storeFiles(request, form, { bucket, prefix: object });
  } catch (error) {
    const refusal = redirect === '' ? undefined : refusalOf(error);
    if (refusal === undefined) throw error;
    return redirected(redirect, refusal.status, refusal.message);
  }
  if (redirect !== '') return redirected(redirect, 201, '');
  return { status: 201, headers: { 'Content-Type': 'text/plain; charset=UTF-8' }, body: statusText(201) };
}
