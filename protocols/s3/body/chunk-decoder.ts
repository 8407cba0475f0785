import { createHash, hash, type Hash } from 'node:crypto';
import { S3Error } from '../errors.ts';
import type { ChunkSigner } from '../signature/chunk-signer.ts';

const LINE_BYTES_MAX = 256;
const TRAILER_BYTES_MAX = 4096;
const CHUNK_BYTES_MAX = 5 * 2 ** 30;
const CHUNK_LINE = /^([0-9a-fA-F]{1,10})(?:;chunk-signature=([0-9a-f]{64}))?$/;
const TRAILER_SIGNATURE = 'x-amz-trailer-signature';
const CR = 0x0d;
const LF = 0x0a;

/**
 * The aws-chunked encoding: `<size in hex>[;chunk-signature=…]` CRLF data CRLF, a chunk of size 0 at the end, and then
 * headers about the data where they were announced. Data is handed on before its chunk's signature is known to be
 * right, so callers may rely on it only after `end` returned.
 */
export class ChunkDecoder {
  readonly #signer: ChunkSigner | null;
  readonly #trailer: boolean;
  readonly trailers = new Map<string, string>();
  #state: 'line' | 'data' | 'gap' | 'tail' = 'line';
  #left = 0;
  /** Bytes of a line, or of the tail, that came so far. */
  #held = Buffer.alloc(0);
  #signature = '';
  #digest: Hash | null = null;

  constructor(signer: ChunkSigner | null, trailer: boolean) {
    this.#signer = signer;
    this.#trailer = trailer;
  }

  /** The data in these bytes. */
  push(bytes: Uint8Array): Uint8Array[] {
    const data: Uint8Array[] = [];
    let at = 0;
    while (at < bytes.length) {
      if (this.#state === 'data') {
        const piece = bytes.subarray(at, at + this.#left);
        at += piece.length;
        this.#consume(piece);
        data.push(piece);
      } else if (this.#state === 'tail') {
        this.#hold(bytes.subarray(at), TRAILER_BYTES_MAX);
        at = bytes.length;
      } else {
        at = this.#readLine(bytes, at);
      }
    }
    return data;
  }

  /** No more bytes come: everything must have been there, and the trailers signed. */
  end(): void {
    if (this.#state !== 'tail') throw new S3Error('IncompleteBody', 'The last chunk of the body is missing.');
    const lines = this.#held
      .toString('latin1')
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '');
    if (!this.#trailer) {
      if (lines.length > 0) throw new S3Error('InvalidRequest', 'There are bytes behind the last chunk.');
      return;
    }
    this.#readTrailers(lines);
  }

  #readLine(bytes: Uint8Array, start: number): number {
    const end = bytes.indexOf(LF, start);
    this.#hold(bytes.subarray(start, end === -1 ? bytes.length : end + 1), LINE_BYTES_MAX);
    if (end === -1) return bytes.length;
    const line = this.#held;
    this.#held = Buffer.alloc(0);
    if (line[line.length - 2] !== CR) throw malformed();
    const text = line.toString('latin1', 0, line.length - 2);
    if (this.#state === 'line') this.#begin(text);
    else if (text === '') this.#state = 'line';
    else throw malformed();
    return end + 1;
  }

  #begin(text: string): void {
    const match = CHUNK_LINE.exec(text);
    if (!match) throw malformed();
    const size = Number.parseInt(match[1] ?? '', 16);
    if (size > CHUNK_BYTES_MAX) throw new S3Error('InvalidChunkSizeError');
    if (this.#signer && match[2] === undefined) {
      throw new S3Error('SignatureDoesNotMatch', 'A chunk of the body is not signed.');
    }
    this.#signature = match[2] ?? '';
    this.#left = size;
    this.#state = 'data';
    if (this.#signer) this.#digest = createHash('sha256');
    if (size > 0) return;
    this.#endChunk();
    this.#state = 'tail';
  }

  #consume(piece: Uint8Array): void {
    this.#digest?.update(piece);
    this.#left -= piece.length;
    if (this.#left === 0) this.#endChunk();
  }

  #endChunk(): void {
    this.#state = 'gap';
    if (!this.#signer || !this.#digest) return;
    if (this.#signer.chunk(this.#signature, this.#digest.digest('hex'))) return;
    throw new S3Error('SignatureDoesNotMatch', 'The signature of a chunk of the body is not the one computed here.');
  }

  #readTrailers(lines: readonly string[]): void {
    let signature: string | undefined;
    let signed = '';
    for (const line of lines) {
      const colon = line.indexOf(':');
      const name = line.slice(0, Math.max(colon, 0)).trim().toLowerCase();
      const value = line.slice(colon + 1).trim();
      if (name === '' || this.trailers.has(name)) throw new S3Error('MalformedTrailerError');
      if (name === TRAILER_SIGNATURE) {
        signature = value;
        continue;
      }
      this.trailers.set(name, value);
      signed += `${name}:${value}\n`;
    }
    if (!this.#signer) return;
    if (signature !== undefined && this.#signer.trailer(signature, hash('sha256', signed))) return;
    throw new S3Error('SignatureDoesNotMatch', 'The signature of the trailer is not the one computed here.');
  }

  #hold(bytes: Uint8Array, limit: number): void {
    if (this.#held.length + bytes.length > limit) throw malformed();
    this.#held = Buffer.concat([this.#held, bytes]);
  }
}

function malformed(): S3Error {
  return new S3Error('InvalidRequest', 'The body is not well-formed aws-chunked.');
}
