import { endpoint, type Group } from '../endpoint.ts';
import { boolean, choice, integer, name, optional, page, secret, text, withDefault } from '../params.ts';
import { int, listOf, nullable, oneOf, record, str, utc, yesNo } from '../records.ts';
import { response } from '../reply.ts';
import { adminOnly, signedIn } from './access.ts';
import { count } from './shared.ts';

const networks = ['fe', 'public'] as const;

export const ObjectStorageDestination = record('ObjectStorageDestination', {
  name: str(),
  display_name: str(),
  type: str(),
  bucket: str(),
  endpoint: str(),
  username: str(),
  connect_via: oneOf(...networks),
  allow_lifecycle_policies: yesNo(),
  proxy_host: nullable(str()),
  proxy_port: nullable(int()),
  created_at: utc(),
  modified_at: utc(),
});

export const objectStorageDestinations = {
  list: endpoint('GET', '/object_storage_destinations', {
    summary: 'List the buckets the array may archive files to and expand pools with',
    access: signedIn,
    params: page,
    reply: response({ object_storage_destinations: listOf(ObjectStorageDestination), count }),
  }),
  create: endpoint('POST', '/object_storage_destinations', {
    summary: 'Make a bucket of an object storage known to the array',
    access: adminOnly,
    params: {
      name: name('Name shown to users', { example: 'archive', aliases: ['display_name'] }),
      bucket: text('The bucket', { min: 3, max: 63, example: 'archive' }),
      endpoint: text('Where the object storage listens: host, host:port or address', {
        max: 255,
        example: 's3.example.org',
      }),
      username: text('Access key id', { max: 255, example: 'AKEXAMPLE' }),
      password: secret('Secret access key', { max: 255, example: 'secret' }),
      type: withDefault(text('What it is; all are spoken to as S3', { max: 32 }), 's3'),
      connectVia: withDefault(choice(networks, 'Network to reach it through'), 'fe'),
      allow_lifecycle_policies: withDefault(boolean('The bucket may have rules that delete objects'), false),
      proxyhost: optional(text('Proxy to go through', { max: 255 })),
      proxyport: optional(integer('Port of the proxy', { min: 1, max: 65_535 })),
      proxyuser: optional(text('User of the proxy', { max: 128 })),
      proxypassword: optional(secret('Password of the proxy', { max: 255 })),
    },
    reply: response({ object_storage_destination: ObjectStorageDestination }),
    errors: ['name_taken', 'remote_unreachable', 'address_refused', 'limit_reached'],
  }),
} satisfies Group;
