import { endpoint, type Group } from '../endpoint.ts';
import { choice, name, optional, page, recordNumber, text } from '../params.ts';
import { int, listOf, mapOf, nullable, oneOf, record, str, utc } from '../records.ts';
import { success } from '../reply.ts';
import { adminOnly, ownerOnly, signedIn } from './access.ts';
import { Type } from '../schema.ts';

export const requestStates = ['pending', 'approved', 'denied'] as const;

export const requestKinds = [
  'create_array',
  'delete_array',
  'change_engine',
  'change_cache',
  'add_drives',
  'add_storage_policy',
  'add_proxy_controller',
  'join_network',
  'create_account',
  'delete_account',
  'create_compute',
  'delete_compute',
] as const;
export type RequestKind = (typeof requestKinds)[number];

export const ArrayRequest = record('ArrayRequest', {
  id: int(),
  name: str('Name of what it is about'),
  status: oneOf(...requestStates),
  kind: oneOf(...requestKinds),
  array_id: nullable(int()),
  user_id: int('Who asked'),
  arguments: mapOf(Type.Unknown()),
  reason: nullable(str('Why it was denied, or why it waits again: what was approved could not be done')),
  created_at: utc(),
  decided_at: nullable(utc()),
  decided_by: nullable(str()),
});

const requestId = recordNumber('The request');
const decided = success({ data: record('ArrayRequestId', { array_request_id: int() }) });

export const arrayRequests = {
  list: endpoint('GET', '/array_requests', {
    summary: 'List requests: your own, or all for an administrator',
    access: signedIn,
    params: { ...page, status: optional(choice(requestStates, 'Only requests in this state')) },
    reply: success({ data: listOf(ArrayRequest) }),
  }),
  get: endpoint('GET', '/array_requests/{id}', {
    summary: 'Show one request',
    access: ownerOnly,
    params: { id: requestId },
    reply: success({ data: ArrayRequest }),
    errors: ['not_found'],
  }),
  approve: endpoint('POST', '/array_requests/{id}/approve', {
    frees: true,
    summary: 'Approve a request and carry it out',
    access: adminOnly,
    params: { id: requestId, name: name('Name of the request; a new array is given this one', { example: 'tank' }) },
    reply: decided,
    errors: ['not_found', 'already_decided', 'name_taken', 'out_of_stock', 'wrong_state'],
  }),
  deny: endpoint('POST', '/array_requests/{id}/deny', {
    frees: true,
    summary: 'Deny a request',
    access: adminOnly,
    params: {
      id: requestId,
      reason: text('The reason, shown to the user who asked', { max: 1024, example: 'out of budget' }),
    },
    reply: decided,
    errors: ['not_found', 'already_decided'],
  }),
  withdraw: endpoint('POST', '/array_requests/{id}/withdraw', {
    frees: true,
    summary: 'Take back a request that waits; who asked may, and an order goes with its array',
    access: ownerOnly,
    params: { id: requestId },
    reply: decided,
    errors: ['not_found', 'already_decided'],
  }),
  delete: endpoint('DELETE', '/array_requests/{id}', {
    summary: 'Remove a request; a pending one is withdrawn',
    access: adminOnly,
    params: { id: requestId },
    reply: success({}),
    errors: ['not_found'],
  }),
} satisfies Group;
