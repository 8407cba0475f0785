import { S3Error } from '../errors.ts';

const HEADER_BYTES_MAX = 8 * 1024;
const FIELDS_MAX = 200;
/** All fields before the file together. */
const FIELD_BYTES_MAX = 64 * 1024;
const utf8 = new TextDecoder('utf-8', { fatal: true });

export interface Form {
  /** By lower-case name; the first of a name counts. */
  readonly fields: ReadonlyMap<string, string>;
  readonly filename: string;
  readonly fileType: string | undefined;
  /** The bytes of the file; what comes behind it is not looked at. */
  file(): AsyncIterable<Uint8Array>;
}

/** Reads the fields up to the file, which has to be the last one used, and leaves the file to be streamed. */
export async function readForm(contentType: string, source: AsyncIterable<Uint8Array>): Promise<Form> {
  const reader = new PartReader(source, boundaryOf(contentType));
  const fields = new Map<string, string>();
  await reader.begin();
  let left = FIELD_BYTES_MAX;
  for (let count = 0; count < FIELDS_MAX && (await reader.next()); count++) {
    const part = readPartHeader(await reader.header());
    if (part.name.toLowerCase() === 'file') {
      return { fields, filename: part.filename, fileType: part.type, file: () => reader.data() };
    }
    const value = await reader.value(left);
    left -= value.length;
    const name = part.name.toLowerCase();
    if (!fields.has(name)) fields.set(name, decode(value));
  }
  throw new S3Error('InvalidArgument', 'POST requires exactly one file upload per request.', { ArgumentName: 'file' });
}

export function boundaryOf(contentType: string): string {
  const match = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;,"]{1,70}))/i.exec(contentType);
  const boundary = match?.[1] ?? match?.[2];
  if (boundary === undefined) throw malformed('Content-Type names no boundary.');
  return boundary;
}

export interface PartHeader {
  readonly name: string;
  readonly filename: string;
  readonly type: string | undefined;
}

export function readPartHeader(text: string): PartHeader {
  const lines = text.split('\r\n');
  const find = (wanted: string) =>
    lines
      .find((line) => line.toLowerCase().startsWith(`${wanted}:`))
      ?.slice(wanted.length + 1)
      .trim();
  const disposition = find('content-disposition') ?? '';
  const name = parameter(disposition, 'name');
  if (name === undefined) throw malformed('A part has no name.');
  // Some browsers send the whole path; only its last part names the file.
  const filename = (parameter(disposition, 'filename') ?? '').replace(/^.*[/\\]/s, '');
  return { name, filename, type: find('content-type') };
}

function parameter(disposition: string, name: string): string | undefined {
  const quoted = new RegExp(`;\\s*${name}="((?:[^"\\\\]|\\\\.)*)"`, 'i').exec(disposition)?.[1];
  return quoted?.replace(/\\(["\\])/g, '$1') ?? new RegExp(`;\\s*${name}=([^\\s;"]+)`, 'i').exec(disposition)?.[1];
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformed('A field is not UTF-8.');
  }
}

/** Cuts a stream at its boundaries, holding no more than a header or the length of a boundary. */
export class PartReader {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #delimiter: Buffer;
  /** Bytes that came but were not used yet. */
  #held: Buffer = Buffer.alloc(0);
  /** Where they are, with room for more behind them. */
  #room: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>, boundary: string) {
    this.#source = source[Symbol.asyncIterator]();
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  }

  /** To just behind the first boundary, which has no line before it. */
  async begin(): Promise<void> {
    this.#held = Buffer.from('\r\n');
    await this.#until(this.#delimiter, HEADER_BYTES_MAX);
  }

  /** Whether a part follows the boundary that was just read. */
  async next(): Promise<boolean> {
    while (this.#held.length < 2) if (!(await this.#more())) throw malformed('The form is cut off.');
    const end = this.#held.toString('latin1', 0, 2);
    if (end !== '\r\n' && end !== '--') throw malformed();
    this.#held = this.#held.subarray(2);
    return end === '\r\n';
  }

  async header(): Promise<string> {
    return decode(await this.#until(Buffer.from('\r\n\r\n'), HEADER_BYTES_MAX));
  }

  value(limit: number): Promise<Buffer> {
    return this.#until(this.#delimiter, limit);
  }

  async *data(): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      const at = this.#held.indexOf(this.#delimiter);
      if (at !== -1) {
        const last = this.#held.subarray(0, at);
        this.#held = this.#held.subarray(at);
        if (at > 0) yield last;
        return;
      }
      // The end of what came may be the beginning of a boundary.
      const sure = this.#held.length - this.#delimiter.length + 1;
      if (sure > 0) {
        yield this.#held.subarray(0, sure);
        this.#held = this.#held.subarray(sure);
      }
      if (!(await this.#more())) throw malformed('The form is cut off.');
    }
  }

  async #until(mark: Buffer, limit: number): Promise<Buffer> {
    for (let from = 0; ;) {
      const at = this.#held.indexOf(mark, from);
      if ((at === -1 ? this.#held.length - mark.length : at) > limit) throw new S3Error('MaxPostPreDataLengthExceeded');
      if (at !== -1) {
        const found = this.#held.subarray(0, at);
        this.#held = this.#held.subarray(at + mark.length);
        return found;
      }
      // Only what is new is searched, and the end of what was there: it may be the beginning of the mark.
      from = Math.max(0, this.#held.length - mark.length + 1);
      if (!(await this.#more())) throw malformed('The form is cut off.');
    }
  }

  async #more(): Promise<boolean> {
    const next = await this.#source.next();
    if (next.done === true) return false;
    const { value } = next;
    if (this.#held.length === 0) this.#held = Buffer.from(value.buffer, value.byteOffset, value.length);
    else this.#append(value);
    return true;
  }

  /** Room is doubled, so that small packets are not copied over and over. Bytes that were handed out stay as they are. */
  #append(value: Uint8Array): void {
    const begin = this.#held.byteOffset - this.#room.byteOffset;
    const end = begin + this.#held.length;
    if (this.#held.buffer !== this.#room.buffer || end + value.length > this.#room.length) {
      this.#room = Buffer.allocUnsafeSlow(2 * (this.#held.length + value.length));
      this.#room.set(this.#held);
      this.#room.set(value, this.#held.length);
      this.#held = this.#room.subarray(0, this.#held.length + value.length);
      return;
    }
    this.#room.set(value, end);
    this.#held = this.#room.subarray(begin, end + value.length);
  }
}

function malformed(message?: string): S3Error {
  return new S3Error('MalformedPOSTRequest', message);
}
