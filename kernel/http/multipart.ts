import type { UploadedFile } from '@granary/contract';
import { badParameter } from '../errors.ts';
import { NONE, parseForm, type Raw } from './form.ts';

const PARTS_MAX = 200;
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;,"]{1,70}))/i;

/** Uploads are small and read as a whole. */
export async function fromMultipart(bytes: Buffer, type: string, parametersMax: number): Promise<Raw> {
  const boundary = boundaryOf(type);
  checkParts(bytes, boundary);
  const files: Record<string, UploadedFile> = {};
  const pairs: string[] = [];
  for (const [name, value] of await readParts(bytes, boundary)) {
    if (typeof value === 'string') pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
    // A form sends an empty part for a file field without a file.
    else if (value.name !== '' && name !== '__proto__') {
      files[name] = { filename: value.name, bytes: new Uint8Array(await value.arrayBuffer()) };
    }
  }
  const fields = pairs.length === 0 ? NONE : parseForm(pairs.join('&'), 'body', parametersMax);
  return { ...fields, ...files };
}

function boundaryOf(type: string): string {
  const match = BOUNDARY.exec(type);
  const boundary = match?.[1] ?? match?.[2];
  if (boundary === undefined) throw notValid();
  return boundary;
}

/** Each part costs as much as a kilobyte of content: they are counted before they are parsed. */
function checkParts(bytes: Buffer, boundary: string): void {
  const delimiter = `--${boundary}`;
  let count = 0;
  for (let at = bytes.indexOf(delimiter); at !== -1; at = bytes.indexOf(delimiter, at + delimiter.length)) {
    count += 1;
    // The last delimiter ends the body.
    if (count > PARTS_MAX + 1) throw badParameter('body', `must have at most ${PARTS_MAX} parts`);
  }
}

/** With the boundary that was counted: another parser could choose a second one in the header. */
async function readParts(bytes: Buffer, boundary: string): Promise<FormData> {
  const type = `multipart/form-data; boundary="${boundary}"`;
  try {
    // oxlint-disable-next-line typescript/no-deprecated -- it warns of bodies without a limit; ours has one
    return await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
  } catch {
    throw notValid();
  }
}

function notValid(): Error {
  return badParameter('body', 'is not valid multipart/form-data');
}
