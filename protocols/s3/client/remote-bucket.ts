import { element, field } from '../xml.ts';
import { readXml } from '../xml-reader.ts';
import { RemoteRefusal, type RemoteAnswer, type RemoteRequest, type RemoteS3, type SentStream } from './client.ts';

type Headers = Readonly<Record<string, string>>;

export interface SentPart {
  readonly number: number;
  readonly etag: string;
}

export interface RemoteObject {
  readonly etag: string;
  readonly size: number;
  readonly headers: RemoteAnswer['headers'];
}

/** One bucket of an S3 service somewhere else. ETags are without their quotes. */
export class RemoteBucket {
  readonly #remote: RemoteS3;
  readonly #bucket: string;
  readonly #signal: AbortSignal | undefined;

  constructor(remote: RemoteS3, bucket: string, signal?: AbortSignal) {
    this.#remote = remote;
    this.#bucket = bucket;
    this.#signal = signal;
  }

  async put(key: string, body: Uint8Array | SentStream, headers: Headers): Promise<string> {
    return etagOf(await this.#send({ method: 'PUT', key, headers, body }));
  }

  /** Undefined when there is none. */
  async head(key: string): Promise<RemoteObject | undefined> {
    try {
      const answer = await this.#send({ method: 'HEAD', key });
      const { headers } = answer;
      return { etag: etagOf(answer), size: Number(headers['content-length'] ?? -1), headers };
    } catch (error) {
      if (error instanceof RemoteRefusal && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Bytes from `start` up to `end`. Rejects where there are fewer. */
  async read(key: string, start: number, end: number): Promise<Buffer> {
    const headers = { range: `bytes=${start}-${end - 1}` };
    const request = { method: 'GET', key, headers, bucket: this.#bucket, signal: this.#signal } as const;
    const { bytes } = await this.#remote.fetch(request, end - start);
    if (bytes.length !== end - start)
      throw new Error(`it sent ${bytes.length} bytes where ${end - start} were asked for`);
    return bytes;
  }

  /** Some services refuse to delete what is not there, and then nothing is left to do. */
  async remove(key: string, headers: Headers): Promise<void> {
    try {
      await this.#send({ method: 'DELETE', key, headers });
    } catch (error) {
      if (!(error instanceof RemoteRefusal && error.code === 'NoSuchKey')) throw error;
    }
  }

  async createUpload(key: string, headers: Headers): Promise<string> {
    const { text } = await this.#send({ method: 'POST', key, query: { uploads: '' }, headers });
    return readXml(text, 'InitiateMultipartUploadResult').need('UploadId');
  }

  async putPart(key: string, upload: string, number: number, body: Uint8Array | SentStream): Promise<SentPart> {
    const query = { partNumber: String(number), uploadId: upload };
    return { number, etag: etagOf(await this.#send({ method: 'PUT', key, query, body })) };
  }

  async completeUpload(key: string, upload: string, parts: readonly SentPart[]): Promise<string> {
    const listed = parts.map(({ number, etag }) =>
      element('Part', field('PartNumber', number) + field('ETag', `"${etag}"`)),
    );
    const body = Buffer.from(element('CompleteMultipartUpload', listed.join('')));
    const { text } = await this.#send({ method: 'POST', key, query: { uploadId: upload }, body });
    // It may answer 200 at once and fail later.
    const result = readXml(text, 'CompleteMultipartUploadResult', 'Error');
    if (result.name === 'Error') throw new RemoteRefusal(500, result.text('Code') ?? '');
    return bare(result.text('ETag') ?? '');
  }

  /** One that is gone already is no error. */
  async abortUpload(key: string, upload: string): Promise<void> {
    try {
      await this.#send({ method: 'DELETE', key, query: { uploadId: upload } });
    } catch (error) {
      if (!(error instanceof RemoteRefusal && error.status === 404)) throw error;
    }
  }

  #send(request: Omit<RemoteRequest, 'bucket' | 'signal'>): Promise<RemoteAnswer> {
    return this.#remote.send({ ...request, bucket: this.#bucket, signal: this.#signal });
  }
}

function etagOf({ headers }: RemoteAnswer): string {
  return bare(headers.etag ?? '');
}

function bare(etag: string): string {
  return etag.replace(/^(?:W\/)?"|"$/g, '').trim();
}
