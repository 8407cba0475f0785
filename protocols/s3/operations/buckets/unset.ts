import { S3Error, type S3ErrorCode } from '../../errors.ts';
import type { Route, S3Operation } from '../../request.ts';
import { field } from '../../xml.ts';
import { NO_CONTENT, xmlReply } from '../replies.ts';

/** What S3 has and this array has not. Clients ask for it all the same and get the error that it is not set; setting it is refused. */
interface Probe {
  /** The query parameter. */
  readonly name: string;
  /** Behind Get and Delete in names of operations, and Get and Put in those of actions. */
  readonly title: string;
  readonly get: S3ErrorCode | (() => readonly [root: string, inner: string]);
  /** Taking away what was never set is no error. */
  readonly removable: boolean;
}

const PROBES: readonly Probe[] = [
  {
    name: 'accelerate',
    title: 'AccelerateConfiguration',
    get: () => ['AccelerateConfiguration', ''],
    removable: false,
  },
  {
    name: 'requestPayment',
    title: 'BucketRequestPayment',
    get: () => ['RequestPaymentConfiguration', field('Payer', 'BucketOwner')],
    removable: false,
  },
  { name: 'website', title: 'BucketWebsite', get: 'NoSuchWebsiteConfiguration', removable: true },
];

const restoreObject: S3Operation = {
  name: 'RestoreObject',
  class: 'other',
  subject: 'object',
  action: 's3:RestoreObject',
  changes: true,
  run() {
    throw new S3Error('InvalidObjectState', 'Restore is not allowed for the current storage class: STANDARD.');
  },
};

export const unsetRoutes: readonly Route[] = [
  { method: 'POST', level: 'object', query: ['restore'], operation: restoreObject },
  ...PROBES.flatMap(probeRoutes),
];

function probeRoutes({ name, title, get, removable }: Probe): Route[] {
  const answer: S3Operation = {
    name: `Get${title}`,
    class: 'get',
    subject: 'bucket',
    action: `s3:Get${title}`,
    changes: false,
    run({ bucket }) {
      if (typeof get === 'string') throw new S3Error(get, undefined, { BucketName: bucket.name });
      return xmlReply(...get());
    },
  };
  return [
    { method: 'GET', level: 'bucket', query: [name], operation: answer },
    ...(removable
      ? [
          {
            method: 'DELETE',
            level: 'bucket',
            query: [name],
            operation: removal(`Delete${title}`, `s3:Put${title}`),
          } as const,
        ]
      : []),
  ];
}

/** Who may set something may take it away. */
function removal(name: string, action: string): S3Operation {
  return { name, class: 'delete', subject: 'bucket', action, changes: true, run: () => NO_CONTENT };
}
