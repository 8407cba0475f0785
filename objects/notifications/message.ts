import type { Happened, Notification } from '@granary/storage/object-store';

/** What is common to all messages of an array. */
interface Origin {
  readonly region: string;
  /** As `x-amz-id-2` of its answers. */
  readonly hostId: string;
}

const SEQUENCER_DIGITS = 16;
/** Families that came with later versions of the message. */
const VERSIONS: Readonly<Record<string, string>> = {
  ObjectTagging: '2.3',
  ObjectAcl: '2.3',
  LifecycleExpiration: '2.3',
  LifecycleTransition: '2.3',
};

/** The body of a delivery, in the form S3 gives its events. */
export function messageOf(notification: Notification, origin: Origin): string {
  const { bucket, happened } = notification;
  if (happened.event !== 'TestEvent') return JSON.stringify({ Records: [recordOf(notification, origin)] });
  return JSON.stringify({
    Service: 'Amazon S3',
    Event: 's3:TestEvent',
    Time: new Date(happened.at).toISOString(),
    Bucket: bucket,
    RequestId: happened.cause?.requestId ?? '',
    HostId: origin.hostId,
  });
}

function recordOf({ account, bucket, rule, happened }: Notification, { region, hostId }: Origin) {
  const { event, at, cause } = happened;
  const [family = ''] = event.split(':');
  return {
    eventVersion: VERSIONS[family] ?? '2.1',
    eventSource: 'aws:s3',
    awsRegion: region,
    eventTime: new Date(at).toISOString(),
    eventName: event,
    userIdentity: { principalId: cause ? (cause.user ?? 'Anonymous') : 's3.amazonaws.com' },
    requestParameters: { sourceIPAddress: cause === undefined || cause.ip === '' ? 's3.amazonaws.com' : cause.ip },
    responseElements: { 'x-amz-request-id': cause?.requestId ?? '', 'x-amz-id-2': hostId },
    s3: {
      s3SchemaVersion: '1.0',
      configurationId: rule,
      bucket: { name: bucket, ownerIdentity: { principalId: account }, arn: `arn:aws:s3:::${bucket}` },
      object: objectOf(happened),
    },
  };
}

function objectOf({ key, sequence, size, etag, versionId }: Happened) {
  return {
    key: encodedKey(key),
    ...(size !== undefined && { size }),
    ...(etag !== undefined && { eTag: etag }),
    ...(versionId !== undefined && versionId !== 'null' && { versionId }),
    sequencer: sequence.toString(16).toUpperCase().padStart(SEQUENCER_DIGITS, '0'),
  };
}

/** As forms encode: a space is a plus, and a slash stays. */
function encodedKey(key: string): string {
  return encodeURIComponent(key)
    .replace(/[!'()~]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+')
    .replaceAll('%2F', '/');
}
