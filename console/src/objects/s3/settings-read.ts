import { all, textIn } from './replies.ts';
import {
  PUBLIC_ACCESS,
  type BucketLock,
  type CorsRule,
  type Hook,
  type Logging,
  type ObjectRetention,
  type PublicAccessBlock,
  type ReplicationRule,
  type Tag,
} from './settings.ts';

/** What S3 answers of settings, read by the browser's own parser. */

/** The endpoint stands where an ARN has the region. */
const TARGET = /^arn:aws:s3:([^:]*):[^:]*:(.*)$/;

export interface ListedGrant {
  readonly to: string;
  readonly permission: string;
}

const GROUPS: Readonly<Record<string, string>> = {
  'http://acs.amazonaws.com/groups/global/AllUsers': 'everybody, without signing in',
  'http://acs.amazonaws.com/groups/global/AuthenticatedUsers': 'every user of every account of the array',
};

function textsIn(of: Element, name: string): string[] {
  return all(of, name).map(({ textContent }) => textContent);
}

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

/** `isWhole`: nothing else stands in the document. */
export function loggingOf(root: Element | undefined): { readonly logging: Logging | undefined; isWhole: boolean } {
  const enabled = root?.querySelector('LoggingEnabled');
  if (!enabled) return { logging: undefined, isWhole: true };
  const source = enabled.querySelector('PartitionedPrefix > PartitionDateSource')?.textContent;
  const names = source === 'EventTime' || source === 'DeliveryTime' ? source : 'simple';
  const logging = { bucket: textIn(enabled, 'TargetBucket'), prefix: textIn(enabled, 'TargetPrefix'), names } as const;
  return { logging, isWhole: enabled.querySelector('TargetGrants') === null };
}

export function tagsOf(root: Element | undefined): Tag[] {
  const sets = root ? all(root, 'TagSet') : [];
  return sets
    .flatMap((set) => all(set, 'Tag'))
    .map((tag) => ({ key: textIn(tag, 'Key'), value: textIn(tag, 'Value') }));
}

export function bucketLockOf(root: Element | undefined): BucketLock {
  const mode = root?.querySelector('DefaultRetention > Mode')?.textContent;
  const days = Number(root?.querySelector('DefaultRetention > Days')?.textContent ?? 0);
  return {
    isLockable: root !== undefined,
    retention: mode === 'GOVERNANCE' || mode === 'COMPLIANCE' ? { mode, days } : undefined,
  };
}

export function retentionOf(root: Element | undefined): ObjectRetention | undefined {
  const mode = root && textIn(root, 'Mode');
  return root && (mode === 'GOVERNANCE' || mode === 'COMPLIANCE')
    ? { mode, until: textIn(root, 'RetainUntilDate') }
    : undefined;
}

export function publicAccessOf(root: Element | undefined): PublicAccessBlock {
  const isOn = (name: string) => root !== undefined && textIn(root, name) === 'true';
  return Object.fromEntries(PUBLIC_ACCESS.map((name) => [name, isOn(name)])) as PublicAccessBlock;
}

export function grantsOf(root: Element): ListedGrant[] {
  return [...root.querySelectorAll('Grant')].map((grant) => {
    const grantee = grant.querySelector('Grantee') ?? grant;
    const group = textIn(grantee, 'URI');
    const name = textIn(grantee, 'DisplayName') || textIn(grantee, 'ID');
    return { to: GROUPS[group] ?? (group || `account ${name}`), permission: textIn(grant, 'Permission') };
  });
}
