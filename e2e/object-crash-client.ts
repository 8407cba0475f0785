import { createHash } from 'node:crypto';
import { Random } from '../testing/random.ts';
import { type Answer, type S3Client } from '../protocols/s3/testing/client.ts';
import { bytesOf, etagOf, sliceOf, someSlice, type Content } from './object-bytes.ts';
import { checkBuckets } from './object-crash-check.ts';
import { ObjectCrashModel, type ModelUpload, type ModelVersion } from './object-crash-model.ts';

/** One request: what it asks, and the steps that hold once it has been acknowledged, each whole or not at all. */
interface Operation {
  readonly name: string;
  readonly call: (s3: S3Client) => Promise<Answer>;
  /** Takes ids from the answer. */
  readonly learn?: (answer: Answer) => void;
  readonly steps: readonly ((model: ObjectCrashModel) => void)[];
}

const BUCKETS_MAX = 3;
const KEYS = 8;
const VERSIONS_MAX = 4;
const UPLOADS_MAX = 2;
const PART_BYTES_MIN = 5 * 2 ** 20;
/** One in so many parts is as large as all but the last have to be. */
const LARGE_PARTS = 5;

/** A client that makes random changes in buckets only it touches and knows what must come of them. */
export class CrashClient {
  readonly #prefix: string;
  readonly #random: Random;
  readonly #policies: readonly string[];
  #model = new ObjectCrashModel();
  #counter = 0;
  /** The request that was under way when the connection broke. */
  #open: Operation | undefined;
  acknowledged = 0;

  constructor(prefix: string, random: Random, policies: readonly string[]) {
    this.#prefix = prefix;
    this.#random = random;
    this.#policies = policies;
  }

  /** Makes changes until the connection breaks or `count` are done. Returns what was wrongly refused. */
  async run(s3: S3Client, count: number, onAcknowledged: () => void): Promise<string[]> {
    for (let made = 0; made < count;) {
      const operation = this.#choose();
      if (!operation) continue;
      made += 1;
      this.#open = operation;
      let answer: Answer;
      try {
        answer = await operation.call(s3);
      } catch {
        return [];
      }
      if (answer.status >= 300) return [`${operation.name}: ${answer.status} ${answer.text}`];
      onAcknowledged();
      operation.learn?.(answer);
      for (const step of operation.steps) step(this.#model);
      this.acknowledged += 1;
      this.#open = undefined;
    }
    return [];
  }

  /** Compares what is there with the model; of a request in doubt any steps may have happened. */
  async verify(s3: S3Client): Promise<string[]> {
    const found = await checkBuckets(s3, this.#prefix);
    const steps = this.#open?.steps ?? [];
    let problems: string[] = [];
    for (let chosen = 0; chosen < 2 ** steps.length; chosen += 1) {
      const candidate = this.#model.copy();
      steps.filter((_, at) => (chosen & (1 << at)) !== 0).forEach((step) => step(candidate));
      problems = candidate.match(found);
      if (problems.length > 0) continue;
      this.#model = candidate;
      this.#open = undefined;
      return [];
    }
    return [`in doubt: ${this.#open?.name ?? 'nothing'}`, ...problems];
  }

  #choose(): Operation | undefined {
    const makers = [
      () => this.#createBucket(),
      () => this.#deleteBucket(),
      () => this.#setVersioning(),
      ...Array.from({ length: 8 }, () => () => this.#put()),
      () => this.#delete(),
      () => this.#delete(),
      () => this.#deleteVersion(),
      () => this.#deleteVersion(),
      () => this.#deleteMany(),
      () => this.#copy(),
      () => this.#copy(),
      () => this.#tag(),
      () => this.#createUpload(),
      () => this.#putPart(),
      () => this.#putPart(),
      () => this.#complete(),
      () => this.#complete(),
      () => this.#abort(),
    ];
    return this.#random.pick(makers)?.();
  }

  #createBucket(): Operation | undefined {
    if (this.#model.buckets.size >= BUCKETS_MAX) return undefined;
    const name = `${this.#prefix}-${++this.#counter}`;
    const policy = this.#random.pick(this.#policies) ?? '';
    return {
      name: `create bucket ${name}`,
      call: (s3) => s3.call('PUT', `/${name}`, { headers: { 'x-storage-policy': policy } }),
      steps: [(model) => model.buckets.set(name, { policy, versioning: '', keys: new Map(), uploads: [] })],
    };
  }

  #deleteBucket(): Operation | undefined {
    const empty = [...this.#model.buckets].filter(([, { keys, uploads }]) => keys.size + uploads.length === 0);
    const [name] = this.#random.pick(empty) ?? [];
    if (name === undefined) return undefined;
    return {
      name: `delete bucket ${name}`,
      call: (s3) => s3.call('DELETE', `/${name}`),
      steps: [(model) => model.buckets.delete(name)],
    };
  }

  #setVersioning(): Operation | undefined {
    const name = this.#bucket();
    if (name === undefined) return undefined;
    const status = this.#model.bucket(name).versioning === 'Enabled' ? 'Suspended' : 'Enabled';
    const body = `<VersioningConfiguration><Status>${status}</Status></VersioningConfiguration>`;
    return {
      name: `versioning of ${name}: ${status}`,
      call: (s3) => s3.call('PUT', `/${name}`, { query: { versioning: '' }, body }),
      steps: [(model) => (model.bucket(name).versioning = status)],
    };
  }

  #put(): Operation | undefined {
    const name = this.#bucket();
    const key = this.#key();
    if (name === undefined || this.#isCrowded(name, key)) return undefined;
    const content = [someSlice(this.#random)];
    const tags = this.#random.below(4) === 0 ? `t${this.#random.below(100)}` : '';
    const version: ModelVersion = { id: undefined, content, multipart: false, tags };
    const headers: Record<string, string> = tags === '' ? {} : { 'x-amz-tagging': `of=${tags}` };
    return {
      name: `put ${name}/${key}`,
      call: (s3) => s3.call('PUT', `/${name}/${key}`, { body: bytesOf(content), headers }),
      learn: (answer) => (version.id = idIn(answer)),
      steps: [(model) => model.put(name, key, version)],
    };
  }

  #delete(): Operation | undefined {
    const [name, key] = this.#existing();
    if (name === undefined || key === undefined || this.#isCrowded(name, key)) return undefined;
    const marker = newMarker();
    return {
      name: `delete ${name}/${key}`,
      call: (s3) => s3.call('DELETE', `/${name}/${key}`),
      learn: (answer) => (marker.id = idIn(answer)),
      steps: [(model) => model.delete(name, key, marker)],
    };
  }

  #deleteVersion(): Operation | undefined {
    const [name, key] = this.#existing();
    if (name === undefined || key === undefined) return undefined;
    const id = this.#random.pick(this.#model.bucket(name).keys.get(key) ?? [])?.id;
    if (id === undefined) return undefined;
    return {
      name: `delete ${name}/${key} version ${id}`,
      call: (s3) => s3.call('DELETE', `/${name}/${key}`, { query: { versionId: id } }),
      steps: [(model) => model.deleteVersion(name, key, id)],
    };
  }

  /** Each key is a step of its own. */
  #deleteMany(): Operation | undefined {
    const name = this.#bucket();
    if (name === undefined) return undefined;
    const keys = [...this.#model.bucket(name).keys.keys()].filter((key) => !this.#isCrowded(name, key)).slice(0, 3);
    if (keys.length === 0) return undefined;
    const markers = new Map(keys.map((key) => [key, newMarker()]));
    const body = `<Delete>${keys.map((key) => `<Object><Key>${key}</Key></Object>`).join('')}</Delete>`;
    const headers = { 'content-md5': createHash('md5').update(body).digest('base64') };
    return {
      name: `delete many of ${name}: ${keys.join(' ')}`,
      call: (s3) => s3.call('POST', `/${name}`, { query: { delete: '' }, body, headers }),
      learn: (answer) => {
        for (const deleted of answer.all('Deleted')) {
          const key = /<Key>(.*?)<\/Key>/.exec(deleted)?.[1] ?? '';
          const marker = markers.get(key);
          if (marker) marker.id = /<DeleteMarkerVersionId>(.*?)<\/DeleteMarkerVersionId>/.exec(deleted)?.[1];
        }
      },
      steps: [...markers].map(
        ([key, marker]) =>
          (model: ObjectCrashModel) =>
            model.delete(name, key, marker),
      ),
    };
  }

  #copy(): Operation | undefined {
    const [from, source] = this.#existing();
    const name = this.#bucket();
    const key = this.#key();
    if (name === undefined || from === undefined || source === undefined) return undefined;
    const [newest] = this.#model.bucket(from).keys.get(source) ?? [];
    if (!newest?.content || this.#isCrowded(name, key) || (from === name && source === key)) return undefined;
    const version: ModelVersion = { ...newest, id: undefined };
    return {
      name: `copy ${from}/${source} to ${name}/${key}`,
      call: (s3) => s3.call('PUT', `/${name}/${key}`, { headers: { 'x-amz-copy-source': `/${from}/${source}` } }),
      learn: (answer) => (version.id = idIn(answer)),
      steps: [(model) => model.put(name, key, version)],
    };
  }

  #tag(): Operation | undefined {
    const [name, key] = this.#existing();
    if (name === undefined || key === undefined || !this.#model.bucket(name).keys.get(key)?.[0]?.content)
      return undefined;
    const value = `v${this.#random.below(1000)}`;
    const body = `<Tagging><TagSet><Tag><Key>of</Key><Value>${value}</Value></Tag></TagSet></Tagging>`;
    return {
      name: `tag ${name}/${key} ${value}`,
      call: (s3) => s3.call('PUT', `/${name}/${key}`, { query: { tagging: '' }, body }),
      steps: [
        (model) => {
          const [newest] = model.bucket(name).keys.get(key) ?? [];
          if (newest) newest.tags = value;
        },
      ],
    };
  }

  #createUpload(): Operation | undefined {
    const name = this.#bucket();
    if (name === undefined || this.#model.bucket(name).uploads.length >= UPLOADS_MAX) return undefined;
    const upload: ModelUpload = { id: undefined, key: this.#key(), parts: new Map() };
    return {
      name: `begin an upload of ${name}/${upload.key}`,
      call: (s3) => s3.call('POST', `/${name}/${upload.key}`, { query: { uploads: '' } }),
      learn: (answer) => (upload.id = answer.xml('UploadId')),
      steps: [(model) => model.bucket(name).uploads.push(upload)],
    };
  }

  #putPart(): Operation | undefined {
    const [name, key, id] = this.#upload();
    if (id === undefined) return undefined;
    const number = 1 + this.#random.below(3);
    const isLarge = this.#random.below(LARGE_PARTS) === 0;
    const part = [isLarge ? sliceOf(this.#random, PART_BYTES_MIN) : someSlice(this.#random)];
    const query = { uploadId: id, partNumber: String(number) };
    return {
      name: `part ${number} of ${name}/${key}`,
      call: (s3) => s3.call('PUT', `/${name}/${key}`, { query, body: bytesOf(part) }),
      steps: [(model) => model.upload(name, id)?.parts.set(number, part)],
    };
  }

  #complete(): Operation | undefined {
    const [name, key, id] = this.#upload();
    if (id === undefined || this.#isCrowded(name, key)) return undefined;
    const all = [...(this.#model.upload(name, id)?.parts ?? [])].sort(([a], [b]) => a - b);
    const firstSmall = all.findIndex(([, [slice]]) => (slice?.size ?? 0) < PART_BYTES_MIN);
    const parts = firstSmall < 0 ? all : all.slice(0, firstSmall + 1);
    if (parts.length === 0) return undefined;
    const content: Content = parts.flatMap(([, part]) => part);
    const version: ModelVersion = { id: undefined, content, multipart: true, tags: '' };
    const named = parts.map(
      ([number, part]) => `<Part><PartNumber>${number}</PartNumber><ETag>"${etagOf(part, false)}"</ETag></Part>`,
    );
    const body = `<CompleteMultipartUpload>${named.join('')}</CompleteMultipartUpload>`;
    return {
      name: `complete ${name}/${key}`,
      call: (s3) => s3.call('POST', `/${name}/${key}`, { query: { uploadId: id }, body }),
      learn: (answer) => (version.id = idIn(answer)),
      steps: [
        (model) => {
          model.put(name, key, version);
          model.dropUpload(name, id);
        },
      ],
    };
  }

  #abort(): Operation | undefined {
    const [name, key, id] = this.#upload();
    if (id === undefined) return undefined;
    return {
      name: `abort ${name}/${key}`,
      call: (s3) => s3.call('DELETE', `/${name}/${key}`, { query: { uploadId: id } }),
      steps: [(model) => model.dropUpload(name, id)],
    };
  }

  #bucket(): string | undefined {
    return this.#random.pick([...this.#model.buckets.keys()]);
  }

  #key(): string {
    return `k${this.#random.below(KEYS)}`;
  }

  #existing(): [string, string] | [] {
    const all = [...this.#model.buckets].flatMap(([name, { keys }]) =>
      [...keys.keys()].map((key): [string, string] => [name, key]),
    );
    return this.#random.pick(all) ?? [];
  }

  #upload(): [string, string, string | undefined] {
    const all = [...this.#model.buckets].flatMap(([name, { uploads }]) =>
      uploads.map(({ key, id }): [string, string, string | undefined] => [name, key, id]),
    );
    return this.#random.pick(all) ?? ['', '', undefined];
  }

  /** Enough versions: some have to go first. */
  #isCrowded(name: string, key: string): boolean {
    return (this.#model.bucket(name).keys.get(key)?.length ?? 0) >= VERSIONS_MAX;
  }
}

function newMarker(): ModelVersion {
  return { id: undefined, content: null, multipart: false, tags: '' };
}

function idIn(answer: Answer): string | undefined {
  const id = answer.headers['x-amz-version-id'];
  return typeof id === 'string' ? id : undefined;
}
