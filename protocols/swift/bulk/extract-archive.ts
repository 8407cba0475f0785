import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ObjectError, type Bucket, type ObjectAttributes } from '@granary/storage/object-store';
import { policyFor } from '../containers/policies.ts';
import { guessContentType } from '../objects/content-types.ts';
import { commitPut } from '../objects/legacy-versions.ts';
import { demandRoom, MAX_OBJECT_SIZE, stageBytes, stageStream, type Uploaded } from '../objects/upload.ts';
import { checkNames, splitObjectPath } from '../request/address.ts';
import { checkMetadata } from '../request/metadata.ts';
import { CLIENT_GONE, SwiftRefusal, refusalOf, statusLine } from '../request/refusal.ts';
import { formatOf, type Format, type SwiftReply, type SwiftRequest } from '../request/request.ts';
import { percentEncode, strictText } from '../request/text.ts';
import { bunzip2 } from './bunzip2.ts';
import { reportReply } from './report.ts';
import { readTar, TarError, type TarFile } from './tar.ts';

const SMALL = 1024 * 1024;
const AT_ONCE = 16;
const MAX_ERRORS = 1000;
/** What an archive may unpack to, however small it came. */
const MAX_UNPACKED = 64 * 1024 ** 3;

const META = 'SCHILY.xattr.user.meta.';
const TYPE = 'SCHILY.xattr.user.mime_type';

/** The bytes of the archive, unpacked as its kind says. */
function unpacked(request: SwiftRequest): AsyncIterable<Uint8Array> {
  const kind = request.query.get('extract-archive')?.toLowerCase();
  if (kind !== 'tar' && kind !== 'tar.gz' && kind !== 'tgz' && kind !== 'tar.bz2') {
    throw new SwiftRefusal(400, 'extract-archive must be tar, tar.gz or tar.bz2');
  }
  const bytes = request.body.stream(MAX_OBJECT_SIZE);
  if (kind === 'tar') return bytes;
  if (kind === 'tar.bz2') return bunzip2(bytes, request.account.id);
  // Errors are reported by the stream that is read.
  return pipeline(Readable.from(bytes), createGunzip(), () => undefined);
}

/** Where a file of the archive goes; folders and other things that are no files go nowhere. */
function placeOf(base: string, file: TarFile): { readonly container: string; readonly object: string } | undefined {
  if (file.name.length === 0) return undefined;
  const name = strictText(file.name).replace(/^(\.?\/)+/, '');
  const path = splitObjectPath(base === '' ? name : `${base.replace(/\/+$/, '')}/${name}`);
  if (path === undefined) throw new SwiftRefusal(400, 'The file has no container.');
  checkNames(path.container, path.object);
  return path;
}

function attributesOf(file: TarFile, object: string): ObjectAttributes {
  const metadata = new Map<string, string>();
  for (const [name, value] of file.records) {
    if (name.startsWith(META)) metadata.set(name.slice(META.length).toLowerCase(), value);
  }
  const kept = Object.fromEntries(metadata);
  checkMetadata(kept);
  const contentType = file.records.get(TYPE) ?? guessContentType(object);
  return metadata.size === 0 ? { contentType } : { contentType, metadata: kept };
}

class Extraction {
  readonly #request: SwiftRequest;
  readonly #base: string;
  readonly #format: Format;
  readonly #errors: [string, string][] = [];
  readonly #underWay = new Set<Promise<void>>();
  #created = 0;
  #unpacked = 0;
  #fault: Error | undefined;

  constructor(request: SwiftRequest, base: string) {
    this.#request = request;
    this.#base = base;
    this.#format = formatOf(request);
  }

  async run(): Promise<SwiftReply> {
    let problem = '';
    try {
      await this.#all();
    } catch (error) {
      problem = this.#problem(error);
    }
    await Promise.all(this.#underWay);
    if (this.#fault !== undefined) throw this.#fault;
    if (problem === '' && this.#created === 0 && this.#errors.length === 0) problem = 'No Valid Files';
    const failed = problem !== '' || this.#errors.length > 0;
    return reportReply(this.#format, {
      'Number Files Created': this.#created,
      'Response Status': failed ? '400 Bad Request' : '201 Created',
      'Response Body': problem === '' ? '' : `Invalid Tar File: ${problem}`,
      Errors: this.#errors,
    });
  }

  /** What is wrong with the archive; anything else is no matter for a report. */
  #problem(error: unknown): string {
    if (error instanceof TarError) return error.message;
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))
      return 'it cannot be unpacked';
    throw error;
  }

  async #all(): Promise<void> {
    for await (const file of readTar(unpacked(this.#request))) {
      if (this.#errors.length >= MAX_ERRORS || this.#fault !== undefined) return;
      this.#unpacked += file.size;
      if (this.#unpacked > MAX_UNPACKED) throw new TarError('it unpacks to too much');
      await this.#accept(file);
    }
  }

  /** Small files are stored side by side, a large one as it comes. */
  async #accept(file: TarFile): Promise<void> {
    const path = percentEncode(`/${file.name.toString('utf8')}`);
    try {
      const place = placeOf(this.#base, file);
      if (place === undefined) return;
      if (file.size > MAX_OBJECT_SIZE) throw new SwiftRefusal(413, 'The file is too large.');
      const bucket = await this.#container(place.container, place.object);
      demandRoom(this.#request, this.#request.account, bucket, file.size);
      const attributes = attributesOf(file, place.object);
      const { store } = this.#request;
      if (file.size > SMALL) {
        const uploaded = await stageStream(store, bucket, file.bytes(), file.size);
        await this.#put(bucket, place.object, attributes, uploaded);
        return;
      }
      const pieces: Uint8Array[] = [];
      for await (const piece of file.bytes()) pieces.push(piece);
      const bytes = Buffer.concat(pieces);
      await this.#aside(path, async () => {
        await this.#put(bucket, place.object, attributes, await stageBytes(store, bucket, bytes));
      });
    } catch (error) {
      this.#failed(path, error);
    }
  }

  async #aside(path: string, work: () => Promise<void>): Promise<void> {
    if (this.#underWay.size >= AT_ONCE) await Promise.race(this.#underWay);
    const job = work()
      .catch((error: unknown) => {
        try {
          this.#failed(path, error);
        } catch (fault) {
          this.#fault = fault instanceof Error ? fault : new Error(String(fault));
        }
      })
      .finally(() => this.#underWay.delete(job));
    this.#underWay.add(job);
  }

  #failed(path: string, error: unknown): void {
    const refusal = refusalOf(error);
    if (refusal === undefined || refusal.status === CLIENT_GONE || error instanceof TarError) throw error;
    this.#errors.push([path, statusLine(refusal.status)]);
  }

  async #container(name: string, object: string): Promise<Bucket> {
    const { store, account, access, now, caller } = this.#request;
    const present = store.bucket(account.id, name);
    if (present !== undefined) {
      access.demand(access.mayPut(present, object), account.id);
      return present;
    }
    access.demandWriter(account.id);
    const settings = caller === null ? {} : { owner: caller.user };
    const policy = policyFor(store, undefined);
    try {
      return await store.commit('createBucket', {
        account: account.id,
        name,
        policy,
        lockable: false,
        settings,
        at: now,
      });
    } catch (error) {
      const made = store.bucket(account.id, name);
      if (made !== undefined && error instanceof ObjectError && error.code === 'bucket-exists') return made;
      throw error;
    }
  }

  async #put(bucket: Bucket, key: string, attributes: ObjectAttributes, uploaded: Uploaded): Promise<void> {
    const { caller, now } = this.#request;
    const owner = caller?.user ?? bucket.settings.owner ?? '';
    await commitPut(this.#request, bucket, { bucket: bucket.id, key, ...uploaded, owner, attributes, at: now });
    this.#created += 1;
  }
}

/** PUT with `extract-archive`: every file of the archive becomes an object below `base`. */
export async function extractArchive(request: SwiftRequest, base: string): Promise<SwiftReply> {
  const { caller, access, account, body } = request;
  if (caller === null) throw access.denied(account.id);
  if (body.length === undefined && !body.chunked) throw new SwiftRefusal(411, 'Missing Content-Length header.');
  const extraction = new Extraction(request, base);
  request.demandRate();
  request.meterBody();
  return extraction.run();
}
