/** What an answer says of the request, not of the object. */
const OF_REQUEST: ReadonlySet<string> = new Set(['x-amz-id-2', 'x-amz-request-id']);
const OF_OBJECT = /^(?:content-(?:type|length|encoding|language|disposition)|expires|etag|last-modified|x-amz-.+)$/;
/** The `Cache-Control` of the answer says how the page may keep it; that of the object comes under a name of its own. */
const STORED_CACHE_CONTROL = 'x-stored-cache-control';

/** Name and value of what an answer says of the object. */
export function factsOfObject(headers: Headers): readonly (readonly [string, string])[] {
  return [...headers].flatMap(([name, value]) => {
    if (name === STORED_CACHE_CONTROL) return [['cache-control', value] as const];
    return OF_OBJECT.test(name) && !OF_REQUEST.has(name) ? [[name, value] as const] : [];
  });
}

/** S3 calls `null` what was stored before a bucket kept versions, or while it kept none. */
export function versionWords(versionId: string): string {
  return versionId === 'null' ? 'without versioning' : versionId;
}
