import type { UploadedFile } from '@granary/contract';
import { badParameter } from '../errors.ts';
import { NONE, parseForm, type Raw } from './form.ts';

const PARTS_MAX = 200;
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;,"]{1,70}))/i;

/** Uploads are read whole: they are small. */
export async function fromMultipart(bytes: Buffer, type: string, parametersMax: number): Promise<Raw> {
  checkParts(bytes, type);
  const files: Record<string, UploadedFile> = {};
  const pairs: string[] = [];
  for (const [name, value] of await readParts(bytes, type)) {
    if (typeof value === 'string') pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
    // A form sends an empty part for a file nobody chose.
    else if (value.name !== '' && name !== '__proto__') {
      files[name] = { filename: value.name, bytes: new Uint8Array(await value.arrayBuffer()) };
    }
  }
  const fields = pairs.length === 0 ? NONE : parseForm(pairs.join('&'), 'body', parametersMax);
  return { ...fields, ...files };
}

/** Each part costs as much as a kilobyte of content: they are counted before they are read. */
function checkParts(bytes: Buffer, type: string): void {
  const match = BOUNDARY.exec(type);
  if (!match) throw notValid();
  const delimiter = `--${match[1] ?? match[2]}`;
  let count = 0;
  for (let at = bytes.indexOf(delimiter); at !== -1; at = bytes.indexOf(delimiter, at + delimiter.length)) {
    count += 1;
    // One more than there are parts ends the body.
    if (count > PARTS_MAX + 1) throw badParameter('body', `must have at most ${PARTS_MAX} parts`);
  }
}

async function readParts(bytes: Buffer, type: string): Promise<FormData> {
  try {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- it warns of bodies without a limit; ours has one
    return await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
  } catch {
    throw notValid();
  }
}

function notValid(): Error {
  return badParameter('body', 'is not valid multipart/form-data');
}
