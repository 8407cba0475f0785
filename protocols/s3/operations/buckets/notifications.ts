import { randomBytes } from 'node:crypto';
import { allowedReach } from '../../../objects/notification-hosts.ts';
import { S3Error } from '../../errors.ts';
import { causeOf, type S3Operation, type S3Request } from '../../request.ts';
import { readXmlWithin } from '../../xml-reader.ts';
import { xmlReply } from '../replies.ts';
import { rulesOfXml, rulesXml } from './notification-xml.ts';

/** 100 rules with all events and a filter each. */
const DOCUMENT = { lengthMax: 2 ** 20, elementsMax: 5_000, depthMax: 8 };
const SEED_BYTES = 16;
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
    const seed = bucket.settings.notifications?.seed ?? randomBytes(SEED_BYTES).toString('hex');
    const secret = await context.directory.notificationSecret(seed);
    await context.store.commit('changeBucket', {
      bucket: bucket.id,
      settings: { notifications: { seed, rules } },
      ...(request.header(SKIPS_TEST)?.toLowerCase() !== 'true' && { testsNotifications: causeOf(request) }),
      at: now,
    });
    return { status: 200, headers: { [SECRET]: secret } };
  },
};

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
