/** Addresses and names of S3, without anything of a browser. */

const SEPARATOR = '/';

/** A key in a path: each part is encoded, the separators stay. */
function keyPath(key: string): string {
  return key.split(SEPARATOR).map(encodeName).join(SEPARATOR);
}

/** As signatures want it: what `encodeURIComponent` leaves alone is encoded, too. */
function encodeName(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

export type Query = Readonly<Record<string, string | number | undefined>>;

/** `list-type=2&prefix=a%2F`; a name without a value stands alone: `uploads`. */
function queryText(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [value === '' ? encodeName(name) : `${encodeName(name)}=${encodeName(String(value))}`],
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/**
 * The path of a bucket or an object below the S3 of a place. Throws for a key that browsers make another of as they read
 * the address: by `a/../b`, encoded or not, they would reach `b`.
 */
export function objectPath(base: string, bucket: string, key: string | undefined, query: Query = {}): string {
  if (key !== undefined && !isReachable(key))
    throw new Error(`A browser cannot name ${key}: use a program that speaks S3 for it.`);
  const path = key === undefined ? '' : `/${keyPath(key)}`;
  return `${base}/s3/${bucket}${path}${queryText(query)}`;
}

/** Whether a browser can name the key at all. */
export function isReachable(key: string): boolean {
  return !key.split(SEPARATOR).some((part) => part === '.' || part === '..');
}

/** What a folder shows of a key or prefix below it. */
export function nameBelow(prefix: string, key: string): string {
  return key.startsWith(prefix) ? key.slice(prefix.length) : key;
}

/** `a/b/c` → `a/b/`; the first folder is `''`. */
export function folderOf(key: string): string {
  return key.slice(0, key.lastIndexOf(SEPARATOR) + 1);
}

/** The folders on the way to a prefix, each with its name. */
export function folders(prefix: string): { readonly name: string; readonly prefix: string }[] {
  const parts = prefix.split(SEPARATOR).slice(0, -1);
  return parts.map((name, index) => ({ name, prefix: `${parts.slice(0, index + 1).join(SEPARATOR)}/` }));
}

/** The last part of a key. */
export function fileName(key: string): string {
  return key.slice(folderOf(key).length) || key;
}

/** Says what is wrong with the name of a new bucket; undefined: nothing. */
export function bucketNameProblem(name: string): string | undefined {
  if (name.length < 3 || name.length > 63) return 'A name has 3 to 63 characters.';
  if (!/^[a-z0-9.-]+$/.test(name)) return 'Small letters, digits, dots and hyphens are possible.';
  if (!/^[a-z0-9].*[a-z0-9]$/.test(name)) return 'It begins and ends with a letter or a digit.';
  if (name.includes('..')) return 'Two dots cannot stand side by side.';
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(name)) return 'It must not look like an address.';
  return undefined;
}
