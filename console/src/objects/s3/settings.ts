import { escapeXml, XMLNS } from './documents.ts';
import { all, textIn } from './replies.ts';

/** Settings of buckets and objects as forms have them, and the documents that S3 has for them. */

function element(name: string, text: string | number): string {
  return `<${name}>${escapeXml(String(text))}</${name}>`;
}

function document(name: string, inner: string): string {
  return `<${name} ${XMLNS}>${inner}</${name}>`;
}

function textsIn(of: Element, name: string): string[] {
  return all(of, name).map(({ textContent }) => textContent);
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

/** The endpoint stands where an ARN has the region. */
const TARGET = /^arn:aws:s3:([^:]*):[^:]*:(.*)$/;

export function replicationOf(root: Element | undefined): ReplicationRule | undefined {
  const [rule] = root ? all(root, 'Rule') : [];
  if (!rule) return undefined;
  const [, endpoint = '', targetBucket = ''] =
    TARGET.exec(rule.querySelector('Destination > Bucket')?.textContent ?? '') ?? [];
  return {
    id: textIn(rule, 'ID'),
    isOn: textIn(rule, 'Status') === 'Enabled',
    prefix: rule.querySelector('Prefix')?.textContent ?? '',
    endpoint,
    targetBucket,
    deletes: rule.querySelector('DeleteMarkerReplication > Status')?.textContent === 'Enabled',
  };
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

export function corsOf(root: Element | undefined): CorsRule[] {
  return (root ? all(root, 'CORSRule') : []).map((rule) => ({
    id: textIn(rule, 'ID'),
    origins: textsIn(rule, 'AllowedOrigin'),
    methods: textsIn(rule, 'AllowedMethod'),
    headers: textsIn(rule, 'AllowedHeader'),
    exposed: textsIn(rule, 'ExposeHeader'),
    maxAge: textIn(rule, 'MaxAgeSeconds') === '' ? undefined : Number(textIn(rule, 'MaxAgeSeconds')),
  }));
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

export function hooksOf(root: Element | undefined): Hook[] {
  return (root ? all(root, 'TopicConfiguration') : []).map((one) => {
    const filters = [...one.querySelectorAll('FilterRule')];
    const filter = (name: string) => {
      const found = filters.find((each) => textIn(each, 'Name').toLowerCase() === name);
      return found ? textIn(found, 'Value') : '';
    };
    return {
      id: textIn(one, 'Id'),
      address: textIn(one, 'Topic'),
      events: textsIn(one, 'Event'),
      prefix: filter('prefix'),
      suffix: filter('suffix'),
    };
  });
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

/** `isWhole`: nothing else stands in the document. */
export function loggingOf(root: Element | undefined): { readonly logging: Logging | undefined; isWhole: boolean } {
  const enabled = root?.querySelector('LoggingEnabled');
  if (!enabled) return { logging: undefined, isWhole: true };
  const source = enabled.querySelector('PartitionedPrefix > PartitionDateSource')?.textContent;
  const names = source === 'EventTime' || source === 'DeliveryTime' ? source : 'simple';
  const logging = { bucket: textIn(enabled, 'TargetBucket'), prefix: textIn(enabled, 'TargetPrefix'), names } as const;
  return { logging, isWhole: enabled.querySelector('TargetGrants') === null };
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

export function tagsOf(root: Element | undefined): Tag[] {
  const sets = root ? all(root, 'TagSet') : [];
  return sets
    .flatMap((set) => all(set, 'Tag'))
    .map((tag) => ({ key: textIn(tag, 'Key'), value: textIn(tag, 'Value') }));
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

export function bucketLockOf(root: Element | undefined): BucketLock {
  const mode = root?.querySelector('DefaultRetention > Mode')?.textContent;
  const days = Number(root?.querySelector('DefaultRetention > Days')?.textContent ?? 0);
  return {
    isLockable: root !== undefined,
    retention: mode === 'GOVERNANCE' || mode === 'COMPLIANCE' ? { mode, days } : undefined,
  };
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

export function publicAccessOf(root: Element | undefined): PublicAccessBlock {
  const isOn = (name: string) => root !== undefined && textIn(root, name) === 'true';
  return Object.fromEntries(PUBLIC_ACCESS.map((name) => [name, isOn(name)])) as PublicAccessBlock;
}

export function publicAccessDocument(block: PublicAccessBlock): string | undefined {
  if (!PUBLIC_ACCESS.some((name) => block[name])) return undefined;
  const each = PUBLIC_ACCESS.map((name) => element(name, String(block[name])));
  return document('PublicAccessBlockConfiguration', each.join(''));
}

export function ownershipDocument(ownership: string): string | undefined {
  if (ownership === '') return undefined;
  return document('OwnershipControls', `<Rule>${element('ObjectOwnership', ownership)}</Rule>`);
}

export interface ListedGrant {
  readonly to: string;
  readonly permission: string;
}

const GROUPS: Readonly<Record<string, string>> = {
  'http://acs.amazonaws.com/groups/global/AllUsers': 'everybody, without signing in',
  'http://acs.amazonaws.com/groups/global/AuthenticatedUsers': 'every user of every account of the array',
};

export function grantsOf(root: Element): ListedGrant[] {
  return [...root.querySelectorAll('Grant')].map((grant) => {
    const grantee = grant.querySelector('Grantee') ?? grant;
    const group = textIn(grantee, 'URI');
    const name = textIn(grantee, 'DisplayName') || textIn(grantee, 'ID');
    return { to: GROUPS[group] ?? (group || `account ${name}`), permission: textIn(grant, 'Permission') };
  });
}
