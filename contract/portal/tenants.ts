import { endpoint, type Group } from '../endpoint.ts';
import { boolean, integer, name, page, optional, recordNumber, text, withDefault } from '../params.ts';
import { int, listOf, nullable, record, str, utc } from '../records.ts';
import { success } from '../reply.ts';
import { ownerOnly, signedIn } from './access.ts';

export const Tenant = record('Tenant', {
  id: int(),
  user_id: int(),
  provider_id: int(),
  internal_id: int(),
  username: str(),
  name: str(),
});

export const Compute = record('Compute', {
  id: int(),
  provider_id: int(),
  user_id: int(),
  display_name: str(),
  display_description: nullable(str()),
  cores: int(),
  ram: int('GB'),
  instances: int(),
  created_at: utc(),
});

const computeId = recordNumber('The compute account');

export const computes = {
  list: endpoint('GET', '/computes', {
    summary: 'List your compute accounts; an administrator sees all',
    access: signedIn,
    params: page,
    reply: success({ data: listOf(Compute) }),
  }),
  get: endpoint('GET', '/computes/{id}', {
    summary: 'Show one compute account',
    access: ownerOnly,
    params: { id: computeId },
    reply: success({ data: Compute }),
    errors: ['not_found'],
  }),
  delete: endpoint('DELETE', '/computes/{id}', {
    summary:
      'Remove a compute account; what its limits held back is free. Asks an administrator unless you may act at once',
    access: ownerOnly,
    params: { id: computeId },
    reply: success({ message: str() }),
    errors: ['not_found', 'in_use'],
  }),
  create: endpoint('POST', '/computes', {
    summary: 'Open a compute account: it limits the app engines your arrays run at a provider',
    access: signedIn,
    params: {
      provider_id: recordNumber('The provider'),
      display_name: name('Name of the account', { example: 'render farm' }),
      display_description: optional(text('What it is for', { min: 0, max: 1024 })),
      cores: withDefault(integer('Cores of app engines in all', { min: 1, max: 100_000, example: 64 }), 64),
      ram: withDefault(integer('GB of memory of app engines in all', { min: 1, max: 1_000_000, example: 238 }), 238),
      instances: withDefault(integer('Arrays with an app engine in all', { min: 1, max: 100_000, example: 10 }), 10),
      moderate: withDefault(boolean('Ask an administrator first'), false),
    },
    reply: success({ message: str() }),
    errors: ['not_found', 'name_taken'],
  }),
} satisfies Group;

export const tenants = {
  list: endpoint('GET', '/tenants', {
    summary: 'List your tenants, one for each provider; an administrator sees all',
    access: signedIn,
    params: page,
    reply: success({ data: listOf(Tenant) }),
  }),
} satisfies Group;
