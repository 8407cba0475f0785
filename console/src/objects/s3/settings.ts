import { escapeXml, XMLNS } from './documents.ts';

/** Settings of buckets and objects as forms have them, and the documents that are sent for them. `settings-read.ts` reads them. */

function element(name: string, text: string | number): string {
  return `<${name}>${escapeXml(String(text))}</${name}>`;
}

function document(name: string, inner: string): string {
  return `<${name} ${XMLNS}>${inner}</${name}>`;
}

export interface ReplicationRule {
  readonly id: string;
  readonly isOn: boolean;
  readonly prefix: string;
  /** The name that a remote endpoint has in rules, such as `obsdst-00000001`. */
  readonly endpoint: string;
  readonly targetBucket: string;
  /** Whether a deletion is passed on. */
  readonly deletes: boolean;
}

export function replicationDocument(rule: ReplicationRule): string {
  const state = (isOn: boolean) => element('Status', isOn ? 'Enabled' : 'Disabled');
  const target = `arn:aws:s3:${rule.endpoint}::${rule.targetBucket}`;
  return document(
    'ReplicationConfiguration',
    `<Role/><Rule>${element('ID', rule.id)}<Priority>1</Priority>${state(rule.isOn)}` +
      `<Filter>${element('Prefix', rule.prefix)}</Filter>` +
      `<Destination>${element('Bucket', target)}</Destination>` +
      `<DeleteMarkerReplication>${state(rule.deletes)}</DeleteMarkerReplication></Rule>`,
  );
}

export interface CorsRule {
  readonly id: string;
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  readonly headers: readonly string[];
  readonly exposed: readonly string[];
  readonly maxAge: number | undefined;
}

/** Undefined without a rule: S3 keeps no document of none. */
export function corsDocument(rules: readonly CorsRule[]): string | undefined {
  if (rules.length === 0) return undefined;
  const list = (name: string, values: readonly string[]) => values.map((value) => element(name, value)).join('');
  const each = rules.map(
    ({ id, origins, methods, headers, exposed, maxAge }) =>
      `<CORSRule>${id === '' ? '' : element('ID', id)}${list('AllowedMethod', methods)}` +
      `${list('AllowedOrigin', origins)}${list('AllowedHeader', headers)}${list('ExposeHeader', exposed)}` +
      `${maxAge === undefined ? '' : element('MaxAgeSeconds', maxAge)}</CORSRule>`,
  );
  return document('CORSConfiguration', each.join(''));
}

export interface Hook {
  readonly id: string;
  readonly address: string;
  readonly events: readonly string[];
  readonly prefix: string;
  readonly suffix: string;
}

export function hooksDocument(hooks: readonly Hook[]): string {
  const each = hooks.map(({ id, address, events, prefix, suffix }) => {
    const filters = Object.entries({ prefix, suffix })
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `<FilterRule>${element('Name', name)}${element('Value', value)}</FilterRule>`);
    const filter = filters.length === 0 ? '' : `<Filter><S3Key>${filters.join('')}</S3Key></Filter>`;
    const names = events.map((event) => element('Event', event)).join('');
    return `<TopicConfiguration>${element('Id', id)}${element('Topic', address)}${names}${filter}</TopicConfiguration>`;
  });
  return document('NotificationConfiguration', each.join(''));
}

/** How the objects of a log are named below their prefix. */
export type LogNames = 'simple' | 'EventTime' | 'DeliveryTime';

export interface Logging {
  readonly bucket: string;
  readonly prefix: string;
  readonly names: LogNames;
}

export function loggingDocument(logging: Logging | undefined): string {
  if (!logging) return document('BucketLoggingStatus', '');
  const { bucket, prefix, names } = logging;
  const format =
    names === 'simple'
      ? '<SimplePrefix/>'
      : `<PartitionedPrefix>${element('PartitionDateSource', names)}</PartitionedPrefix>`;
  return document(
    'BucketLoggingStatus',
    `<LoggingEnabled>${element('TargetBucket', bucket)}${element('TargetPrefix', prefix)}` +
      `<TargetObjectKeyFormat>${format}</TargetObjectKeyFormat></LoggingEnabled>`,
  );
}

export interface Tag {
  readonly key: string;
  readonly value: string;
}

/** Undefined without a tag. */
export function tagsDocument(tags: readonly Tag[]): string | undefined {
  if (tags.length === 0) return undefined;
  const each = tags.map(({ key, value }) => `<Tag>${element('Key', key)}${element('Value', value)}</Tag>`);
  return document('Tagging', `<TagSet>${each.join('')}</TagSet>`);
}

/** Says what is wrong with tags; undefined: nothing. */
export function tagsProblem(tags: readonly Tag[]): string | undefined {
  if (tags.some(({ key }) => key.trim() === '')) return 'Each tag needs a name.';
  const names = tags.map(({ key }) => key);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? undefined : `There are two tags ${twice}.`;
}

export type LockMode = 'GOVERNANCE' | 'COMPLIANCE';

export interface BucketLock {
  readonly isLockable: boolean;
  /** What new objects get. */
  readonly retention: { readonly mode: LockMode; readonly days: number } | undefined;
}

export function bucketLockDocument(retention: BucketLock['retention']): string {
  const rule = retention
    ? `<Rule><DefaultRetention>${element('Mode', retention.mode)}${element('Days', retention.days)}</DefaultRetention></Rule>`
    : '';
  return document('ObjectLockConfiguration', `<ObjectLockEnabled>Enabled</ObjectLockEnabled>${rule}`);
}

export interface ObjectRetention {
  readonly mode: LockMode;
  /** ISO 8601. */
  readonly until: string;
}

/** Undefined takes a retention away, where its mode allows that. */
export function retentionDocument(retention: ObjectRetention | undefined): string {
  const inner = retention ? `${element('Mode', retention.mode)}${element('RetainUntilDate', retention.until)}` : '';
  return document('Retention', inner);
}

export function legalHoldDocument(isOn: boolean): string {
  return document('LegalHold', element('Status', isOn ? 'ON' : 'OFF'));
}

export const ENCRYPTION_DOCUMENT = document(
  'ServerSideEncryptionConfiguration',
  '<Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule>',
);

export const PUBLIC_ACCESS = [
  'BlockPublicAcls',
  'IgnorePublicAcls',
  'BlockPublicPolicy',
  'RestrictPublicBuckets',
] as const;
export type PublicAccessBlock = Readonly<Record<(typeof PUBLIC_ACCESS)[number], boolean>>;

export function publicAccessDocument(block: PublicAccessBlock): string | undefined {
  if (!PUBLIC_ACCESS.some((name) => block[name])) return undefined;
  const each = PUBLIC_ACCESS.map((name) => element(name, String(block[name])));
  return document('PublicAccessBlockConfiguration', each.join(''));
}

export function ownershipDocument(ownership: string): string | undefined {
  if (ownership === '') return undefined;
  return document('OwnershipControls', `<Rule>${element('ObjectOwnership', ownership)}</Rule>`);
}
