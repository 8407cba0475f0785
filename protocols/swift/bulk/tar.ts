import { ByteSource } from './byte-source.ts';

/** Reads tar archives: ustar, long names of GNU tar, and the extended headers of pax. */

const BLOCK = 512;
const MAX_HEADER_TEXT = 1024 * 1024;

export class TarError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TarError';
  }
}

export interface TarFile {
  /** As bytes: names of archives have no encoding. */
  readonly name: Buffer;
  readonly size: number;
  /** Records of pax headers, `SCHILY.xattr.user.mime_type` for example. */
  readonly records: ReadonlyMap<string, string>;
  /** The bytes; to be read before the next file is asked for. What is not read is skipped. */
  bytes(): AsyncGenerator<Uint8Array, void, undefined>;
}

interface Header {
  readonly name: Buffer;
  readonly size: number;
  readonly type: string;
}

function text(block: Buffer, start: number, length: number): Buffer {
  const field = block.subarray(start, start + length);
  const end = field.indexOf(0);
  return end < 0 ? field : field.subarray(0, end);
}

/** Octal text, or base 256 where the number is too large for it. */
function number(block: Buffer, start: number, length: number): number {
  const first = block[start] ?? 0;
  if ((first & 0x80) !== 0) {
    const tail = block.subarray(start + length - 6, start + length);
    if (first !== 0x80 || block.subarray(start + 1, start + length - 6).some((byte) => byte !== 0)) {
      throw new TarError('a number is out of range');
    }
    return tail.readUIntBE(0, 6);
  }
  const digits = text(block, start, length).toString('latin1').trim();
  if (!/^[0-7]*$/.test(digits)) throw new TarError('a header has a bad number');
  return digits === '' ? 0 : Number.parseInt(digits, 8);
}

function checkSum(block: Buffer): void {
  let sum = 0;
  for (let at = 0; at < BLOCK; at++) sum += at >= 148 && at < 156 ? 32 : (block[at] ?? 0);
  if (sum !== number(block, 148, 8)) throw new TarError('a header has a bad checksum');
}

function readHeader(block: Buffer): Header {
  checkSum(block);
  const name = text(block, 0, 100);
  const isUstar = block.subarray(257, 262).toString('latin1') === 'ustar' && block[262] === 0;
  const prefix = isUstar ? text(block, 345, 155) : Buffer.alloc(0);
  return {
    name: prefix.length === 0 ? Buffer.from(name) : Buffer.concat([prefix, Buffer.from('/'), name]),
    size: number(block, 124, 12),
    type: String.fromCharCode(block[156] ?? 0),
  };
}

/** Lines of `<length> <name>=<value>\n`; the length counts the whole line. */
function readPaxRecords(bytes: Buffer): Map<string, Buffer> {
  const records = new Map<string, Buffer>();
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at);
    const length = space < 0 ? Number.NaN : Number(bytes.subarray(at, space).toString('latin1'));
    const end = at + length;
    const equals = bytes.indexOf(0x3d, space);
    if (!Number.isSafeInteger(length) || length <= 0 || end > bytes.length || equals < 0 || equals >= end) {
      throw new TarError('an extended header cannot be read');
    }
    records.set(bytes.subarray(space + 1, equals).toString('utf8'), bytes.subarray(equals + 1, end - 1));
    at = end;
  }
  return records;
}

class TarReader {
  readonly #source: ByteSource;
  /** Bytes of the present file, with what fills its last block, that were not taken yet. */
  #remaining = 0;
  #padding = 0;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  async *files(): AsyncGenerator<TarFile, void, undefined> {
    let records = new Map<string, Buffer>();
    let longName: Buffer | undefined;
    for (;;) {
      const header = await this.#next();
      if (header === undefined) return;
      if (header.type === 'x') records = readPaxRecords(await this.#headerText(header));
      else if (header.type === 'L') longName = (await this.#headerText(header)).subarray(0, -1);
      else {
        yield this.#file(header, records, longName);
        records = new Map();
        longName = undefined;
      }
    }
  }

  #file(header: Header, records: ReadonlyMap<string, Buffer>, longName: Buffer | undefined): TarFile {
    const paxSize = records.get('size')?.toString('latin1');
    const size = paxSize === undefined ? header.size : Number(paxSize);
    if (!Number.isSafeInteger(size) || size < 0) throw new TarError('a file has a bad size');
    const isFile = header.type === '0' || header.type === '\0' || header.type === '7';
    this.#begin(isFile || header.type === '5' ? size : header.size);
    return {
      name: isFile ? (records.get('path') ?? longName ?? header.name) : Buffer.alloc(0),
      size,
      records: new Map([...records].map(([name, value]) => [name, value.toString('utf8')])),
      bytes: () => this.#bytes(),
    };
  }

  async #next(): Promise<Header | undefined> {
    for await (const _skipped of this.#bytes());
    await this.#source.exactly(this.#padding);
    this.#padding = 0;
    const block = await this.#source.exactly(BLOCK);
    if (block.length === 0 || block.every((byte) => byte === 0)) return undefined;
    if (block.length < BLOCK) throw new TarError('the archive ends in the middle of a header');
    return readHeader(block);
  }

  async #headerText(header: Header): Promise<Buffer> {
    if (header.size > MAX_HEADER_TEXT) throw new TarError('an extended header is too long');
    this.#begin(header.size);
    const bytes = await this.#source.exactly(header.size);
    this.#remaining -= bytes.length;
    return bytes;
  }

  #begin(size: number): void {
    this.#remaining = size;
    this.#padding = (BLOCK - (size % BLOCK)) % BLOCK;
  }

  async *#bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    while (this.#remaining > 0) {
      const piece = await this.#source.some(this.#remaining);
      if (piece === undefined) throw new TarError('the archive ends in the middle of a file');
      this.#remaining -= piece.length;
      yield piece;
    }
  }
}

/** What may follow the end of an archive: writers fill up to whole records. */
const MAX_TRAILER = 16 * 1024 * 1024;

/** The regular files of an archive; for everything else the name is empty. */
export async function* readTar(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TarFile, void, undefined> {
  const source = new ByteSource(bytes);
  try {
    yield* new TarReader(source).files();
    for (let left = MAX_TRAILER; left > 0;) {
      const piece = await source.some(left);
      if (piece === undefined) return;
      left -= piece.length;
    }
  } finally {
    await source.close();
  }
}
