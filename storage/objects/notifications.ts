import type { BucketSettings, NotificationRule } from './bucket-settings.ts';

/** What happened to an object, as events of S3 are called (without `s3:`). */
export type ObjectEvent =
  | 'ObjectCreated:Put'
  | 'ObjectCreated:Post'
  | 'ObjectCreated:Copy'
  | 'ObjectCreated:CompleteMultipartUpload'
  | 'ObjectRemoved:Delete'
  | 'ObjectRemoved:DeleteMarkerCreated'
  | 'ObjectTagging:Put'
  | 'ObjectTagging:Delete'
  | 'ObjectAcl:Put'
  | 'LifecycleExpiration:Delete'
  | 'LifecycleExpiration:DeleteMarkerCreated'
  | 'LifecycleTransition';

/** The request that a change comes from. */
export interface Cause {
  /** What it is called, where the change alone does not tell. */
  readonly event?: ObjectEvent;
  /** User id; null for anonymous callers. */
  readonly user: string | null;
  readonly ip: string;
  readonly requestId: string;
}

/** A change that rules of its bucket say is reported. */
export interface Happened {
  /** `TestEvent`: the rule was set. */
  readonly event: ObjectEvent | 'TestEvent';
  readonly key: string;
  /** Orders the events of a key. */
  readonly sequence: number;
  readonly at: number;
  /** Absent where nothing is left of it. */
  readonly size?: number;
  readonly etag?: string;
  /** `null` without versioning. */
  readonly versionId?: string;
  readonly cause?: Cause;
}

/** What is to be posted where. It needs the bucket no more: that may be gone when it is delivered. */
export interface NewNotification {
  readonly account: string;
  readonly bucket: string;
  readonly address: string;
  /** Of the secret that signs it. */
  readonly seed: string;
  /** Id of the rule. */
  readonly rule: string;
  readonly happened: Happened;
}

/** One that waits. */
export interface Notification extends NewNotification {
  readonly number: number;
  readonly attempts: number;
}

export function wantsEvent(
  { events, prefix = '', suffix = '' }: NotificationRule,
  event: string,
  key: string,
): boolean {
  if (!key.startsWith(prefix) || !key.endsWith(suffix)) return false;
  const [family = ''] = event.split(':');
  return events.some((wanted) => wanted === `s3:${event}` || wanted === `s3:${family}:*`);
}

/** Which rules of a bucket want to know of a change. */
export function notificationsOf(
  { account, name, settings }: { readonly account: string; readonly name: string; readonly settings: BucketSettings },
  happened: Happened,
): NewNotification[] {
  const { notifications } = settings;
  if (notifications === undefined) return [];
  const { seed, rules } = notifications;
  const { event, key } = happened;
  return rules
    .filter((rule) => event === 'TestEvent' || wantsEvent(rule, event, key))
    .map(({ id: rule, address }) => ({ account, bucket: name, address, seed, rule, happened }));
}
