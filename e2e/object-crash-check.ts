import { expect, type Answer, type S3Client } from '../protocols/s3/testing/client.ts';

export interface FoundVersion {
  readonly id: string;
  readonly latest: string;
  /** Null for a delete marker. */
  readonly bytes: Buffer | null;
  readonly etag: string;
  readonly tags: string;
}

export interface FoundUpload {
  readonly id: string;
  readonly key: string;
  /** `<number> <size> <etag>` */
  readonly parts: readonly string[];
}

export interface FoundBucket {
  readonly versioning: string;
  readonly keys: ReadonlyMap<string, readonly FoundVersion[]>;
  /** `<key> <size> <etag>` */
  readonly listed: readonly string[];
  readonly uploads: readonly FoundUpload[];
}

/** Everything a client can see of buckets whose names begin so, bytes included. */
export async function checkBuckets(s3: S3Client, prefix: string): Promise<Map<string, FoundBucket>> {
  const names = expect(await s3.call('GET', '/'), 200)
    .all('Name')
    .filter((name) => name.startsWith(prefix));
  const found = new Map<string, FoundBucket>();
  for (const name of names) found.set(name, await checkBucket(s3, name));
  return found;
}

async function checkBucket(s3: S3Client, name: string): Promise<FoundBucket> {
  const ask = async (query: Record<string, string>) => expect(await s3.call('GET', `/${name}`, { query }), 200);
  const versioning = (await ask({ versioning: '' })).xml('Status') ?? '';
  const listed = (await ask({ 'list-type': '2' })).all('Contents').map((item) => {
    return `${textOf(item, 'Key')} ${textOf(item, 'Size')} ${bare(textOf(item, 'ETag'))}`;
  });
  const keys = await checkVersions(s3, name, await ask({ versions: '' }));
  const uploads: FoundUpload[] = [];
  for (const item of (await ask({ uploads: '' })).all('Upload')) uploads.push(await checkUpload(s3, name, item));
  return { versioning, keys, listed, uploads };
}

async function checkVersions(s3: S3Client, name: string, listing: Answer): Promise<Map<string, FoundVersion[]>> {
  const keys = new Map<string, FoundVersion[]>();
  const items = [...listing.text.matchAll(/<(Version|DeleteMarker)>(.*?)<\/\1>/gs)];
  const found = await Promise.all(items.map(([, kind, item = '']) => checkVersion(s3, name, kind ?? '', item)));
  items.forEach(([, , item = ''], at) => {
    const key = textOf(item, 'Key');
    keys.set(key, [...(keys.get(key) ?? []), found[at] as FoundVersion]);
  });
  return keys;
}

async function checkVersion(s3: S3Client, name: string, kind: string, item: string): Promise<FoundVersion> {
  const id = textOf(item, 'VersionId');
  const latest = textOf(item, 'IsLatest');
  if (kind === 'DeleteMarker') return { id, latest, bytes: null, etag: '', tags: '' };
  const path = `/${name}/${textOf(item, 'Key')}`;
  const { bytes } = expect(await s3.call('GET', path, { query: { versionId: id } }), 200);
  const tags = expect(await s3.call('GET', path, { query: { tagging: '', versionId: id } }), 200).all('Value');
  return { id, latest, bytes, etag: bare(textOf(item, 'ETag')), tags: tags.join(' ') };
}

async function checkUpload(s3: S3Client, name: string, item: string): Promise<FoundUpload> {
  const id = textOf(item, 'UploadId');
  const key = textOf(item, 'Key');
  const parts = expect(await s3.call('GET', `/${name}/${key}`, { query: { uploadId: id } }), 200).all('Part');
  return {
    id,
    key,
    parts: parts.map((part) => `${textOf(part, 'PartNumber')} ${textOf(part, 'Size')} ${bare(textOf(part, 'ETag'))}`),
  };
}

function textOf(xml: string, name: string): string {
  return new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(xml)?.[1] ?? '';
}

function bare(etag: string): string {
  return etag.replaceAll('&quot;', '').replaceAll('"', '');
}
