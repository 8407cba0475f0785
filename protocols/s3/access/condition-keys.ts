/** Keys a condition may ask for. One that is not known here would never hold, so it is refused when a policy is put. */
const KEYS = new Set([
  'aws:currenttime',
  'aws:epochtime',
  'aws:principalaccount',
  'aws:principalarn',
  'aws:principaltype',
  'aws:referer',
  'aws:requestedregion',
  'aws:securetransport',
  'aws:sourceip',
  'aws:useragent',
  'aws:userid',
  'aws:username',
  's3:authtype',
  's3:delimiter',
  's3:if-match',
  's3:if-none-match',
  's3:locationconstraint',
  's3:max-keys',
  's3:object-lock-legal-hold',
  's3:object-lock-mode',
  's3:object-lock-retain-until-date',
  's3:prefix',
  's3:requestobjecttagkeys',
  's3:resourceaccount',
  's3:signatureversion',
  's3:versionid',
  's3:x-amz-acl',
  's3:x-amz-content-sha256',
  's3:x-amz-copy-source',
  's3:x-amz-grant-full-control',
  's3:x-amz-grant-read',
  's3:x-amz-grant-read-acp',
  's3:x-amz-grant-write',
  's3:x-amz-grant-write-acp',
  's3:x-amz-metadata-directive',
  's3:x-amz-server-side-encryption',
  's3:x-amz-storage-class',
]);

/** Behind these stands the key of a tag, whose case counts. */
const TAG_KEYS = ['s3:existingobjecttag/', 's3:requestobjecttag/'];

/** The key in the form it is looked up by; undefined for unknown ones. Case does not count but in keys of tags. */
export function conditionKey(text: string): string | undefined {
  const lower = text.toLowerCase();
  if (KEYS.has(lower)) return lower;
  const tag = TAG_KEYS.find((prefix) => lower.startsWith(prefix) && lower.length > prefix.length);
  return tag && tag + text.slice(tag.length);
}
