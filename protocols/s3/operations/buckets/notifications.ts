import { randomBytes } from 'node:crypto';
import { ObjectError, type NotificationRule } from '@granary/storage/object-store';
import { allowedReach } from '../../../objects/notification-hosts.ts';
import { S3Error } from '../../errors.ts';
import { causeOf, type S3Operation, type S3Request } from '../../request.ts';
import { readXmlWithin } from '../../xml-reader.ts';
import { xmlReply } from '../replies.ts';
import { rulesOfXml, rulesXml } from './notification-xml.ts';

/** 100 rules with all events and a filter each. */
const DOCUMENT = { lengthMax: 2 ** 20, elementsMax: 5_000, depthMax: 8 };
const SEED_BYTES = 16;
const TRIES = 20;
const SECRET = 'x-granary-notification-secret';
const SKIPS_TEST = 'x-amz-skip-destination-validation';

/**
 * Where S3 has topics, queues and functions, there are addresses of webhooks here: `<Topic>` is `https://…`. Deliveries are
 * signed; the secret comes with the answer to who sets them, and stays the same until all rules are taken away.
 */
export const putBucketNotification: S3Operation = {
  name: 'PutBucketNotification',
  class: 'put',
  subject: 'bucket',
  action: 's3:PutBucketNotification',
  changes: true,
  async run(request) {
    const { bucket, context, now } = request;
    const text = await request.body.text(DOCUMENT.lengthMax);
    const rules = rulesOfXml(readXmlWithin(DOCUMENT, text, 'NotificationConfiguration'));
    if (rules.length === 0) {
      await context.store.commit('changeBucket', {
        bucket: bucket.id,
        settings: { notifications: undefined },
        at: now,
      });
      return { status: 200 };
    }
    for (const { address } of rules) demandHost(request, address);
    const seed = await setRules(request, rules);
    const secret = await context.directory.notificationSecret(seed);
    return { status: 200, headers: { [SECRET]: secret } };
  },
};

/** Returns the seed of their secret: that of the rules from before, if there are any. */
async function setRules(request: S3Request, rules: readonly NotificationRule[]): Promise<string> {
  const { bucket, context, now } = request;
  const { store } = context;
  const isTested = request.header(SKIPS_TEST)?.toLowerCase() !== 'true';
  for (let tries = 1; ; tries++) {
    const { settings, versioning } = store.bucketById(bucket.id) ?? bucket;
    const seed = settings.notifications?.seed ?? randomBytes(SEED_BYTES).toString('hex');
    try {
      await store.commit('changeBucket', {
        bucket: bucket.id,
        seen: { settings, versioning },
        settings: { notifications: { seed, rules } },
        ...(isTested && { testsNotifications: causeOf(request) }),
        at: now,
      });
      return seed;
    } catch (error) {
      // Another request changed the bucket meanwhile.
      const isLate = error instanceof ObjectError && error.code === 'precondition-failed';
      if (!isLate || tries >= TRIES) throw error;
    }
  }
}

export const getBucketNotification: S3Operation = {
  name: 'GetBucketNotification',
  class: 'get',
  subject: 'bucket',
  action: 's3:GetBucketNotification',
  changes: false,
  run({ bucket }) {
    return xmlReply('NotificationConfiguration', rulesXml(bucket.settings.notifications?.rules ?? []));
  },
};

function demandHost({ settings }: S3Request, address: string): void {
  if (allowedReach(settings.notificationHosts ?? [], new URL(address).hostname) !== 'none') return;
  throw new S3Error(
    'InvalidArgument',
    'Unable to validate the following destination configurations: notifications may not be posted to this host. Ask the administrator of the array to allow it (settings set-notification-hosts).',
    { ArgumentName: 'Topic', ArgumentValue: address },
  );
}
