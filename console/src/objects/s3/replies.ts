import type { LifecycleRule } from './documents.ts';
import type { StoredPart } from './parts.ts';

/** What S3 answers, read by the browser's own parser. */

export interface Bucket {
  readonly name: string;
  readonly created: string;
}

export interface ListedObject {
  readonly key: string;
  readonly size: number;
  readonly modified: string;
  readonly etag: string;
  readonly storageClass: string;
}

export interface Version {
  readonly key: string;
  readonly versionId: string;
  readonly isLatest: boolean;
  readonly isMarker: boolean;
  readonly modified: string;
  readonly size: number;
  readonly storageClass: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly prefixes: readonly string[];
  readonly next: Readonly<Record<string, string>> | undefined;
}

/** Undefined where the text is not XML: the parser answers with a document that says so. */
export function xmlIn(text: string): Element | undefined {
  const root = new DOMParser().parseFromString(text, 'application/xml').documentElement;
  return root.localName === 'parsererror' || root.querySelector('parsererror') ? undefined : root;
}

/** Throws where it is not XML: a list that could not be read is not an empty one. */
export function readXml(text: string): Element {
  const root = xmlIn(text);
  if (!root) throw new Error('The answer is not XML: something between here and the service answered in its place.');
  return root;
}

export function textIn(element: Element, name: string): string {
  return [...element.children].find(({ localName }) => localName === name)?.textContent ?? '';
}

export function all(element: Element, name: string): Element[] {
  return [...element.children].filter(({ localName }) => localName === name);
}

export function bucketsOf(root: Element): Bucket[] {
  const list = all(root, 'Buckets').flatMap((buckets) => all(buckets, 'Bucket'));
  return list.map((bucket) => ({ name: textIn(bucket, 'Name'), created: textIn(bucket, 'CreationDate') }));
}

/** Listings are asked for with `encoding-type=url`, because XML cannot write every key. */
function decoded(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

function prefixesOf(root: Element): string[] {
  return all(root, 'CommonPrefixes').map((one) => decoded(textIn(one, 'Prefix')));
}

export function objectsOf(root: Element): Page<ListedObject> {
  const items = all(root, 'Contents').map((one) => ({
    key: decoded(textIn(one, 'Key')),
    size: Number(textIn(one, 'Size')),
    modified: textIn(one, 'LastModified'),
    etag: textIn(one, 'ETag'),
    storageClass: textIn(one, 'StorageClass') || 'STANDARD',
  }));
  const token = textIn(root, 'NextContinuationToken');
  return { items, prefixes: prefixesOf(root), next: token === '' ? undefined : { 'continuation-token': token } };
}

export function versionsOf(root: Element): Page<Version> {
  const items = [...root.children]
    .filter(({ localName }) => localName === 'Version' || localName === 'DeleteMarker')
    .map((one) => ({
      key: decoded(textIn(one, 'Key')),
      versionId: textIn(one, 'VersionId'),
      isLatest: textIn(one, 'IsLatest') === 'true',
      isMarker: one.localName === 'DeleteMarker',
      modified: textIn(one, 'LastModified'),
      size: Number(textIn(one, 'Size') || 0),
      storageClass: textIn(one, 'StorageClass') || '–',
    }));
  const key = textIn(root, 'NextKeyMarker');
  const id = textIn(root, 'NextVersionIdMarker');
  const next = key === '' ? undefined : { 'key-marker': decoded(key), ...(id !== '' && { 'version-id-marker': id }) };
  return { items, prefixes: prefixesOf(root), next: textIn(root, 'IsTruncated') === 'true' ? next : undefined };
}

export function partsOf(root: Element): { parts: StoredPart[]; next: string | undefined } {
  const parts = all(root, 'Part').map((part) => ({
    number: Number(textIn(part, 'PartNumber')),
    etag: textIn(part, 'ETag'),
    size: Number(textIn(part, 'Size')),
  }));
  const isMore = textIn(root, 'IsTruncated') === 'true';
  return { parts, next: isMore ? textIn(root, 'NextPartNumberMarker') : undefined };
}

export interface Upload {
  readonly key: string;
  readonly uploadId: string;
  readonly begun: string;
}

export function uploadsOf(root: Element): Upload[] {
  return all(root, 'Upload').map((one) => ({
    key: decoded(textIn(one, 'Key')),
    uploadId: textIn(one, 'UploadId'),
    begun: textIn(one, 'Initiated'),
  }));
}

export interface Deleted {
  readonly key: string;
  readonly versionId: string;
  readonly problem: string | undefined;
}

export function deletedOf(root: Element): Deleted[] {
  return [...root.children].map((one) => ({
    key: textIn(one, 'Key'),
    versionId: textIn(one, 'VersionId'),
    problem: one.localName === 'Error' ? `${textIn(one, 'Message')} (${textIn(one, 'Code')})` : undefined,
  }));
}

/** What of the rules the form can show. `isWhole`: nothing else stands in the document. */
export function lifecycleOf(root: Element): { readonly rules: LifecycleRule[]; readonly isWhole: boolean } {
  const rules = all(root, 'Rule');
  return { rules: rules.map(ruleOf), isWhole: rules.every(isPlain) };
}

const KNOWN = new Set([
  'ID',
  'Filter',
  'Prefix',
  'Status',
  'Expiration',
  'NoncurrentVersionExpiration',
  'AbortIncompleteMultipartUpload',
]);
const FURTHER = 'Tag, And, ObjectSizeGreaterThan, ObjectSizeLessThan, Date, NewerNoncurrentVersions';

function isPlain(rule: Element): boolean {
  return [...rule.children].every(({ localName }) => KNOWN.has(localName)) && rule.querySelector(FURTHER) === null;
}

function ruleOf(rule: Element): LifecycleRule {
  const days = (path: string) => {
    const text = rule.querySelector(path)?.textContent;
    return text ? Number(text) : undefined;
  };
  return {
    id: textIn(rule, 'ID'),
    isOn: textIn(rule, 'Status') === 'Enabled',
    prefix: rule.querySelector('Prefix')?.textContent ?? '',
    expireDays: days('Expiration > Days'),
    oldVersionDays: days('NoncurrentVersionExpiration > NoncurrentDays'),
    dropsMarkers: rule.querySelector('ExpiredObjectDeleteMarker')?.textContent === 'true',
    uploadDays: days('DaysAfterInitiation'),
  };
}
