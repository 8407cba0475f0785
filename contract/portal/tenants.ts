import { endpoint, type Group } from '../endpoint.ts';
import { boolean, integer, name, page, optional, recordNumber, text, withDefault } from '../params.ts';
import { int, listOf, record, str } from '../records.ts';
import { success } from '../reply.ts';
import { signedIn } from './access.ts';

export const Tenant = record('Tenant', {
  id: int(),
  user_id: int(),
  provider_id: int(),
  internal_id: int(),
  username: str(),
  name: str(),
});

export const computes = {
  create: endpoint('POST', '/computes', {
    summary: 'Open a compute account with a provider',
    access: signedIn,
    params: {
      provider_id: recordNumber('The provider'),
      display_name: name('Name of the account', { example: 'render farm' }),
      display_description: optional(text('What it is for', { min: 0, max: 1024 })),
      cores: withDefault(integer('Cores it may use', { min: 1, max: 100_000, example: 64 }), 64),
      ram: withDefault(integer('GB of memory it may use', { min: 1, max: 1_000_000, example: 238 }), 238),
      instances: withDefault(integer('Instances it may run', { min: 1, max: 100_000, example: 10 }), 10),
      moderate: withDefault(boolean('true asks an administrator first'), false),
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
