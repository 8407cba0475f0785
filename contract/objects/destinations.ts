import { endpoint, type Group } from '../endpoint.ts';
import { boolean, choice, name, optional, secret, text, withDefault } from '../params.ts';
import { int, listOf, nullable, oneOf, record, secretText, str, utc } from '../records.ts';
import { response } from '../reply.ts';
import { adminOnly, signedIn } from './access.ts';
import { accountId } from './accounts.ts';

const destinationTypes = ['EXT_S3', 'OBJS_S3'] as const;

export const Destination = record('Destination', {
  id: int(),
  job_count: int('Containers that are replicated to it'),
  state: str('`Enabled`'),
  endpoint: str(),
  access: str('Access key id'),
  secret: secretText('secret key', 'Secret access key'),
  region: nullable(str()),
  network: str('What the connection goes out by: `feip` or `outnet`'),
  type: oneOf(...destinationTypes),
  ext_name: str('What paths name it by'),
  display_name: str(),
  created_at: utc(),
  modified_at: utc(),
});

const DestinationGrant = record('DestinationGrant', {
  account_id: str(),
  account_name: str(),
  prefix: str(
    'What the names of the account’s objects begin with at the remote endpoint; empty for an account that used it before there were grants',
  ),
});

const GrantedDestination = record('GrantedDestination', {
  ext_name: str('What a replication rule names it by'),
  display_name: str(),
  type: oneOf(...destinationTypes),
  prefix: str('What the names of the account’s objects begin with there'),
});

const extName = text('External name of the remote endpoint', { max: 64, example: 'obsdst-00000001' });

const displayName = name('Name of the remote endpoint', { example: 'offsite' });
const type = choice(destinationTypes, 'A public S3 service (EXT_S3), or another array of this kind (OBJS_S3)');
const keyId = name('Access key id at the remote endpoint', { example: 'GRANARYEXAMPLEKEY' });
const secretKey = secret('Secret access key at the remote endpoint', { max: 256, example: 'remote-secret' });
const connectVia = choice(
  ['fe', 'outnet'],
  'Where the connection comes from: the address that clients use (fe), or the public address of the array, and without one whatever the machine routes by (outnet)',
);
const region = text('Region of the remote endpoint', { max: 64, example: 'us-east-1' });

export const destinations = {
  list: endpoint('GET', '/objs/object_storage_destinations', {
    summary: 'List the remote endpoints that containers are replicated to',
    access: adminOnly,
    params: { container_account: optional({ ...accountId, description: 'Keeps those that this account uses' }) },
    reply: response({ container_replication_targets: listOf(Destination), count: int() }),
  }),
  get: endpoint('GET', '/objs/object_storage_destinations/{target-ext-name}', {
    summary: 'Show one remote endpoint',
    access: adminOnly,
    params: { 'target-ext-name': extName },
    reply: response({ target: Destination }),
    errors: ['objs_destination_not_found'],
  }),
  create: endpoint('POST', '/objs/object_storage_destinations', {
    summary: 'Add a remote endpoint, after a test of the connection',
    access: adminOnly,
    params: {
      name: displayName,
      type,
      endpoint: optional(
        text('Host of the S3 service; EXT_S3 needs it', { max: 255, example: 's3.us-east-1.amazonaws.com' }),
      ),
      endpoint_url: optional(
        text('Address of the other array; OBJS_S3 needs it', { max: 1024, example: 'https://objects.example.org' }),
      ),
      region,
      username: keyId,
      password: secretKey,
      connectVia,
    },
    reply: response({}),
    errors: ['name_taken', 'connection_failed', 'address_refused', 'objs_limit_reached'],
  }),
  update: endpoint('PUT', '/objs/object_storage_destinations/{ext-name}', {
    summary: 'Change a remote endpoint, after a test of the connection',
    access: adminOnly,
    params: {
      'ext-name': extName,
      name: optional(displayName),
      type,
      region_name: optional(region),
      region_name_text: optional(text('Region as free text, where `region_name` does not offer it', { max: 64 })),
      username: optional(keyId),
      password: optional(secretKey),
      connectVia: optional(connectVia),
    },
    reply: response({}),
    errors: ['objs_destination_not_found', 'name_taken', 'connection_failed', 'address_refused'],
  }),
  delete: endpoint('DELETE', '/objs/object_storage_destinations/{ext-name}', {
    summary: 'Remove a remote endpoint',
    access: adminOnly,
    params: {
      'ext-name': extName,
      force: withDefault(boolean('Whether to remove it though containers are still replicated to it'), false),
    },
    reply: response({}),
    errors: ['objs_destination_not_found', 'objs_state_conflict'],
  }),
  listGrants: endpoint('GET', '/objs/object_storage_destinations/{ext-name}/grants', {
    summary: 'List the accounts that may replicate to a remote endpoint',
    access: adminOnly,
    params: { 'ext-name': extName },
    reply: response({ grants: listOf(DestinationGrant), count: int() }),
    errors: ['objs_destination_not_found'],
  }),
  listGranted: endpoint('GET', '/objs/accounts/{account_id}/object_storage_destinations', {
    summary: 'List the remote endpoints that the containers of an account may be replicated to',
    access: { ...signedIn, owned: true },
    params: { account_id: accountId },
    reply: response({ endpoints: listOf(GrantedDestination), count: int() }),
    errors: ['account_not_found'],
  }),
  grant: endpoint('POST', '/objs/object_storage_destinations/{ext-name}/grants', {
    summary:
      'Let the containers of an account be replicated to a remote endpoint; without that it does not exist for them',
    access: adminOnly,
    params: {
      'ext-name': extName,
      account_id: accountId,
      own_prefix: optional(
        boolean(
          'Whether the names of its objects begin with the account’s id there (YES, unless it was otherwise before); without, one account of an endpoint can be',
        ),
      ),
    },
    reply: response({}),
    errors: ['objs_destination_not_found', 'account_not_found', 'objs_limit_reached', 'objs_state_conflict'],
  }),
  revoke: endpoint('DELETE', '/objs/object_storage_destinations/{ext-name}/grants/{account_id}', {
    summary: 'End what an account may replicate to a remote endpoint; what is there stays',
    access: adminOnly,
    params: { 'ext-name': extName, account_id: accountId },
    reply: response({}),
    errors: ['objs_destination_not_found', 'nothing_to_delete'],
  }),
} satisfies Group;
