import { endpoint, type Group } from '../endpoint.ts';
import { boolean, name, optional, page, recordNumber, secret, text, withDefault } from '../params.ts';
import { int, listOf, nullable, num, oneOf, record, str, utc } from '../records.ts';
import { envelope } from '../reply.ts';
import { ownerOnly, signedIn } from './access.ts';
import { PublicObjectService } from './array-records.ts';

export const ObjectAccount = record('ObjectAccount', {
  id: int(),
  array_id: int(),
  user_id: int(),
  account_name: str(),
  status: oneOf('waiting_for_approval', 'creating', 'created', 'deleting'),
  objs_request_id: int(),
  used_capacity: nullable(num('GB it holds; null, like the two counts, while the array does not answer')),
  containers_count: nullable(int()),
  objects_count: nullable(int()),
  created_at: utc(),
  updated_at: utc(),
});

const Success = { status: 'Success' };
const arrayId = recordNumber('The object storage array');
const accountId = recordNumber('The account');
const accountName = name('Account on the array', { example: 'public' });
const adminName = name("The account's administrator", { example: 'carol' });
const adminPassword = secret("That administrator's password", { min: 8, max: 256, example: 'correct horse battery' });
const hostAndPort = text('An address of the array and a port: one more place where it serves S3 and Swift', {
  max: 64,
  pattern: '^(\\d{1,3}(\\.\\d{1,3}){3}|\\[[0-9A-Fa-f:.]+\\]):\\d{1,5}$',
  form: 'an address and a port such as 192.0.2.7:8080',
  example: '127.0.0.1:8080',
});
const host = text('Name the service is reached by: in links, in its certificate, and after names of buckets', {
  max: 253,
  pattern: '^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$',
  form: 'a host name',
  example: 'objects.example.org',
});
const autoApprove = boolean('Whether accounts that users ask for, here or at the array, are opened without asking');

export const publicObjects = {
  create: endpoint('POST', '/arrays/{array_id}/public_objs', {
    summary: 'Offer an object storage array to the public',
    access: ownerOnly,
    params: {
      array_id: arrayId,
      account_name: accountName,
      admin_username: adminName,
      admin_password: adminPassword,
      ip: hostAndPort,
      host,
      auto_approve: withDefault(autoApprove, false),
    },
    reply: envelope(Success, { data: PublicObjectService, message: str() }),
    errors: ['not_found', 'not_supported', 'in_use', 'wrong_state', 'array_unreachable'],
  }),
  update: endpoint('PUT', '/arrays/{array_id}/public_objs', {
    summary: 'Change the public object service of an array',
    access: ownerOnly,
    params: {
      array_id: arrayId,
      account_name: optional(accountName),
      admin_username: optional(adminName),
      admin_password: optional(adminPassword),
      ip: optional(hostAndPort),
      host: optional(host),
      auto_approve: optional(autoApprove),
    },
    reply: envelope({ status: 200 }, { data: PublicObjectService, message: str() }),
    errors: ['not_found', 'not_supported', 'wrong_state'],
  }),
  get: endpoint('GET', '/arrays/{array_id}/public_objs', {
    summary: 'Show the public object service of an array',
    access: ownerOnly,
    params: { array_id: arrayId },
    reply: envelope(Success, { data: PublicObjectService }),
    errors: ['not_found'],
  }),
  delete: endpoint('DELETE', '/arrays/{array_id}/public_objs', {
    summary: 'Withdraw the public object service of an array; its account goes with all it holds',
    access: ownerOnly,
    params: { array_id: arrayId },
    reply: envelope(Success, {}),
    errors: ['not_found', 'not_supported', 'wrong_state'],
  }),
} satisfies Group;

export const objectAccounts = {
  create: endpoint('POST', '/arrays/{array_id}/accounts', {
    summary: 'Open an account on an object storage array',
    access: ownerOnly,
    params: {
      array_id: arrayId,
      object_storage_account_name: accountName,
      object_storage_admin_username: adminName,
      object_storage_admin_password: adminPassword,
      user_id: recordNumber('The portal user it belongs to, who sees it at the portal and may ask for its removal'),
      moderate: withDefault(boolean('Ask an administrator first'), false),
    },
    reply: envelope(Success, { message: str(), data: ObjectAccount }),
    errors: ['not_found', 'not_supported', 'name_taken', 'wrong_state', 'array_unreachable'],
  }),
  get: endpoint('GET', '/arrays/{array_id}/accounts/{account_id}', {
    summary: 'Show one account with what it holds',
    access: ownerOnly,
    params: { array_id: arrayId, account_id: accountId },
    reply: envelope(Success, { data: ObjectAccount }),
    errors: ['not_found'],
  }),
  list: endpoint('GET', '/arrays/{array_id}/accounts/', {
    summary: 'List the accounts of an object storage array',
    access: ownerOnly,
    params: { array_id: arrayId, ...page },
    reply: envelope(Success, { data: listOf(ObjectAccount) }),
    errors: ['not_found'],
  }),
  listAll: endpoint('GET', '/accounts', {
    summary: 'List the accounts that are yours, on whatever array; an administrator sees all',
    access: signedIn,
    params: page,
    reply: envelope(Success, { data: listOf(ObjectAccount) }),
  }),
  delete: endpoint('DELETE', '/arrays/{array_id}/accounts/{account_id}', {
    summary: 'Ask for the removal of an account',
    access: ownerOnly,
    params: { array_id: arrayId, account_id: accountId },
    reply: envelope(Success, { array_request_id: int() }),
    errors: ['not_found', 'wrong_state'],
  }),
} satisfies Group;
