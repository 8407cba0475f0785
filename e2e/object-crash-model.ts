import { bytesOf, etagOf, sizeOf, type Content } from './object-bytes.ts';
import type { FoundBucket, FoundVersion } from './object-crash-check.ts';

/** What is known of a version; `id` is undefined when the reply that had it was lost. */
export interface ModelVersion {
  id: string | undefined;
  /** Null for a delete marker. */
  readonly content: Content | null;
  readonly multipart: boolean;
  tags: string;
}

export interface ModelUpload {
  id: string | undefined;
  readonly key: string;
  readonly parts: Map<number, Content>;
}

export interface ModelBucket {
  readonly policy: string;
  versioning: '' | 'Enabled' | 'Suspended';
  /** Newest first. */
  readonly keys: Map<string, ModelVersion[]>;
  readonly uploads: ModelUpload[];
}

/** What one client should find of what only it touches. */
export class ObjectCrashModel {
  readonly buckets = new Map<string, ModelBucket>();

  copy(): ObjectCrashModel {
    const copy = new ObjectCrashModel();
    for (const [name, bucket] of this.buckets) copy.buckets.set(name, structuredClone(bucket));
    return copy;
  }

  bucket(name: string): ModelBucket {
    const bucket = this.buckets.get(name);
    if (!bucket) throw new Error(`The model has no bucket ${name}.`);
    return bucket;
  }

  put(name: string, key: string, version: ModelVersion): void {
    const { keys, versioning } = this.bucket(name);
    const kept = versioning === '' ? [] : (keys.get(key) ?? []);
    const others = versioning === 'Suspended' ? kept.filter(({ id }) => id !== 'null') : kept;
    // The null version's id is known, whether the answer came or not.
    const own = versioning === 'Enabled' ? version : { ...version, id: 'null' };
    keys.set(key, [own, ...others]);
  }

  delete(name: string, key: string, marker: ModelVersion): void {
    const { keys, versioning } = this.bucket(name);
    if (versioning === '') keys.delete(key);
    else this.put(name, key, marker);
  }

  deleteVersion(name: string, key: string, id: string): void {
    const { keys } = this.bucket(name);
    const left = (keys.get(key) ?? []).filter((version) => version.id !== id);
    if (left.length === 0) keys.delete(key);
    else keys.set(key, left);
  }

  upload(name: string, id: string): ModelUpload | undefined {
    return this.bucket(name).uploads.find((upload) => upload.id === id);
  }

  dropUpload(name: string, id: string): void {
    const { uploads } = this.bucket(name);
    const at = uploads.findIndex((upload) => upload.id === id);
    if (at >= 0) uploads.splice(at, 1);
  }

  /** Adopts ids whose replies were lost. Returns what is not as it should be. */
  match(found: ReadonlyMap<string, FoundBucket>): string[] {
    const names = [...this.buckets.keys()].sort().join(' ');
    const foundNames = [...found.keys()].sort().join(' ');
    if (names !== foundNames) return [`buckets are "${foundNames}", not "${names}"`];
    return [...this.buckets].flatMap(([name, bucket]) => {
      const there = found.get(name);
      return there ? matchBucket(bucket, there).map((problem) => `${name}: ${problem}`) : [];
    });
  }
}

function matchBucket(bucket: ModelBucket, found: FoundBucket): string[] {
  if (bucket.versioning !== found.versioning) return [`versioning is ${found.versioning}, not ${bucket.versioning}`];
  const keys = [...bucket.keys.keys()].sort().join(' ');
  const foundKeys = [...found.keys.keys()].sort().join(' ');
  if (keys !== foundKeys) return [`keys are "${foundKeys}", not "${keys}"`];
  const problems = [...bucket.keys].flatMap(([key, versions]) =>
    matchKey(versions, found.keys.get(key) ?? []).map((problem) => `${key}: ${problem}`),
  );
  return [...problems, ...matchCurrent(bucket, found), ...matchUploads(bucket, found)];
}

function matchKey(versions: readonly ModelVersion[], found: readonly FoundVersion[]): string[] {
  if (versions.length !== found.length) return [`there are ${found.length} versions, not ${versions.length}`];
  return versions.flatMap((version, at) => {
    const there = found[at];
    if (!there) return [];
    version.id ??= there.id;
    const problems: string[] = [];
    if (version.id !== there.id) problems.push(`version ${at} is ${there.id}, not ${version.id}`);
    if ((there.latest === 'true') !== (at === 0)) problems.push(`version ${at} is the latest: ${there.latest}`);
    if (version.content === null || there.bytes === null) {
      if (version.content !== there.bytes) problems.push(`version ${at} should be, or not be, a delete marker`);
      return problems;
    }
    if (there.etag !== etagOf(version.content, version.multipart))
      problems.push(`version ${at} has ETag ${there.etag}`);
    if (!bytesOf(version.content).equals(there.bytes))
      problems.push(`version ${at} has other bytes: ${there.bytes.length} of ${sizeOf(version.content)}`);
    if (version.tags !== there.tags) problems.push(`version ${at} has tags "${there.tags}", not "${version.tags}"`);
    return problems;
  });
}

/** What a plain listing shows is what is current, whole. */
function matchCurrent(bucket: ModelBucket, found: FoundBucket): string[] {
  const wanted = [...bucket.keys].flatMap(([key, [newest]]) =>
    newest?.content ? [`${key} ${sizeOf(newest.content)} ${etagOf(newest.content, newest.multipart)}`] : [],
  );
  const reported = wanted.sort().join('\n');
  const listed = found.listed.toSorted().join('\n');
  return reported === listed ? [] : [`the listing shows\n${listed}\nnot\n${reported}`];
}

function matchUploads(bucket: ModelBucket, found: FoundBucket): string[] {
  const rest = [...found.uploads];
  const problems = bucket.uploads
    .toSorted((a, b) => Number(a.id === undefined) - Number(b.id === undefined))
    .flatMap((upload) => {
      const at = rest.findIndex(({ id, key }) => (upload.id === undefined ? key === upload.key : id === upload.id));
      const [there] = at < 0 ? [] : rest.splice(at, 1);
      if (!there) return [`the upload ${upload.id} of ${upload.key} is gone`];
      upload.id = there.id;
      const wanted = [...upload.parts].map(([number, part]) => `${number} ${sizeOf(part)} ${etagOf(part, false)}`);
      const parts = wanted.sort().join(', ');
      const foundParts = there.parts.toSorted().join(', ');
      return parts === foundParts ? [] : [`the upload of ${upload.key} has parts ${foundParts}, not ${parts}`];
    });
  return [...problems, ...rest.map(({ id, key }) => `there is an upload ${id} of ${key} that no worker began`)];
}
