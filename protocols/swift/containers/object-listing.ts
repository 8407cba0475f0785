import type { Bucket, ListedObject, ListedVersion, ListQuery, ObjectStore } from '@granary/storage/object-store';
import type { Query } from '../request/address.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import { DELETED_TYPE } from '../objects/legacy-versions.ts';
import { symlinkEntry } from '../objects/symlink.ts';
import { EMPTY_MD5 } from '../objects/upload.ts';
import { listedTime, type Entry } from './formats.ts';
import { compareNames, pageOf, type Page } from './page.ts';

function objectEntry({ account }: Bucket, version: ListedObject): Entry {
  const { staticManifest, contentType, symlink } = version.attributes;
  return {
    name: version.key,
    hash: version.etag,
    bytes: staticManifest?.size ?? version.size,
    content_type: contentType ?? 'application/octet-stream',
    last_modified: listedTime(version.modifiedAt),
    ...(staticManifest === undefined ? {} : { slo_etag: `"${staticManifest.etag}"` }),
    ...(symlink === undefined ? {} : symlinkEntry(account, symlink)),
  };
}

function listQuery(page: Page): ListQuery {
  const { prefix, delimiter, after, before, reverse, limit } = page;
  return { prefix, delimiter, after, before, reverse, limit };
}

/** Objects and common beginnings in one order. */
function listPage(store: ObjectStore, bucket: Bucket, page: Page): Entry[] {
  const listing = store.list(bucket.id, listQuery(page));
  if (listing.prefixes.length === 0) return listing.objects.map((version) => objectEntry(bucket, version));
  const named: [name: string, entry: Entry][] = [
    ...listing.objects.map((version): [string, Entry] => [version.key, objectEntry(bucket, version)]),
    ...listing.prefixes.map((subdir): [string, Entry] => [subdir, { subdir }]),
  ];
  const sign = page.reverse ? -1 : 1;
  return named.sort(([a], [b]) => sign * compareNames(a, b)).map(([, entry]) => entry);
}

/**
 * `path=a/b`: what stands directly below, objects only; among them those that stand for a folder (`a/b/c/`). Listed by
 * the delimiter, because the rest may be many times more.
 */
function listPath(store: ObjectStore, bucket: Bucket, path: string, asked: Page): Entry[] {
  const prefix = path === '' ? '' : `${path.replace(/\/+$/, '')}/`;
  const entries: Entry[] = [];
  let page: Page = { ...asked, prefix, delimiter: '/' };
  while (entries.length < asked.limit) {
    const listing = store.list(bucket.id, listQuery(page));
    const found = [...listing.objects];
    for (const folder of listing.prefixes) {
      const version = store.version(bucket.id, folder);
      if (version !== undefined) found.push(version);
    }
    const sign = page.reverse ? -1 : 1;
    found.sort((a, b) => sign * compareNames(a.key, b.key));
    for (const version of found) if (version.key !== prefix) entries.push(objectEntry(bucket, version));
    if (listing.next === null) break;
    page = { ...page, after: listing.next };
  }
  return entries.slice(0, asked.limit);
}

function versionEntry(bucket: Bucket, version: ListedVersion): Entry {
  const entry = { ...objectEntry(bucket, version), version_id: version.versionId, is_latest: version.isLatest };
  return version.isDeleteMarker ? { ...entry, bytes: 0, hash: EMPTY_MD5, content_type: DELETED_TYPE } : entry;
}

/** `?versions`: every version, newest first within a name. */
function listVersions(store: ObjectStore, bucket: Bucket, query: Query, page: Page): Entry[] {
  if (page.reverse) throw new SwiftRefusal(400, 'reverse cannot be used with versions');
  const versionId = query.get('version_marker') ?? null;
  const after = page.after === null ? null : { key: page.after, versionId };
  if (after === null && versionId !== null) throw new SwiftRefusal(400, 'version_marker needs marker');
  const { prefix, delimiter, limit, before } = page;
  const listing = store.listVersions(bucket.id, { prefix, delimiter, after, limit });
  const named: [name: string, entry: Entry][] = [
    ...listing.versions.map((version): [string, Entry] => [version.key, versionEntry(bucket, version)]),
    ...listing.prefixes.map((subdir): [string, Entry] => [subdir, { subdir }]),
  ];
  return named
    .filter(([name]) => before === null || compareNames(name, before) < 0)
    .sort(([a], [b]) => compareNames(a, b))
    .map(([, entry]) => entry);
}

export function listObjects(store: ObjectStore, bucket: Bucket, query: Query): Entry[] {
  const page = pageOf(query);
  const path = query.get('path');
  if (page.limit === 0) return [];
  if (listsVersions(query)) {
    return listVersions(store, bucket, query, page);
  }
  return path === undefined ? listPage(store, bucket, page) : listPath(store, bucket, path, page);
}

export function listsVersions(query: Query): boolean {
  return query.has('versions');
}
