import { endpoint, type Group } from '../endpoint.ts';
import { boolean, name, optional, page, price, recordNumber, text, withDefault } from '../params.ts';
import { int, listOf, record, str } from '../records.ts';
import { success } from '../reply.ts';
import { adminOnly, signedIn } from './access.ts';

export const Provider = record('Provider', {
  id: str(),
  name: str(),
  key: str('What `provider` of an order names'),
  provider_group_id: str(),
  cloud_id: str(),
  enabled: str(),
  hidden: str(),
});

export const ProviderGroup = record('ProviderGroup', { id: str(), name: str() });

const providerId = recordNumber('The provider');
const groupId = recordNumber('The provider group');
const providerName = name('Name shown to users', { example: 'local' });
const hidden = boolean('Whether it is left out of what users see; their arrays at it run on', { example: false });
const groupJoined = text('Id of the group it is in; empty or `null` takes it out of its group', {
  min: 0,
  max: 10,
  pattern: '^([0-9]{1,10}|null|)$',
  form: 'the id of a provider group, or null',
  example: 'null',
});
const groupName = name('Name of the group', { example: 'europe' });
const stored = success({ data: record('ProviderId', { provider_id: int() }) });
const groupStored = success({ data: record('ProviderGroupId', { provider_group_id: int() }) });

export const providers = {
  list: endpoint('GET', '/providers', {
    summary: 'List the providers',
    access: signedIn,
    params: page,
    reply: success({ data: listOf(Provider) }),
  }),
  get: endpoint('GET', '/providers/{id}', {
    summary: 'Show one provider',
    access: signedIn,
    params: { id: providerId },
    reply: success({ data: Provider }),
    errors: ['not_found'],
  }),
  create: endpoint('POST', '/providers', {
    summary: "Sell a cloud's storage under a name; prices start as the cloud's own",
    access: adminOnly,
    params: {
      name: providerName,
      key: text('Short name orders use', {
        max: 64,
        pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
        form: 'letters, digits, dots, dashes and underscores',
        example: 'local',
      }),
      cloud_id: recordNumber('The cloud it sells'),
      enabled: withDefault(boolean('Whether users see it'), true),
      hidden: withDefault(hidden, false),
      provider_group_id: optional(groupJoined),
    },
    reply: stored,
    errors: ['not_found', 'name_taken'],
  }),
  update: endpoint('POST', '/providers/{id}', {
    summary: 'Rename a provider, open, close or hide it, have it join or leave a group',
    access: adminOnly,
    params: {
      id: providerId,
      name: providerName,
      enabled: optional(boolean('Whether users see it and may order')),
      hidden: optional(hidden),
      provider_group_id: optional(groupJoined),
    },
    reply: stored,
    errors: ['not_found', 'name_taken'],
  }),
  delete: endpoint('DELETE', '/providers/{id}', {
    summary: 'Remove a provider that has no array and no network; past bills keep its name',
    access: adminOnly,
    params: { id: providerId },
    reply: success({}),
    errors: ['not_found', 'in_use'],
  }),
  setFlavorPrice: endpoint('POST', '/providers/{provider_id}/flavors/{flavor_key}/price', {
    summary: 'Set what an hour of an engine costs, from now on',
    access: adminOnly,
    params: {
      provider_id: providerId,
      flavor_key: text('The engine: its id, `nova_id_<n>`, or its key', { max: 128, example: '1' }),
      price: price('USD an hour'),
    },
    reply: success({}),
    errors: ['not_found'],
  }),
} satisfies Group;

export const providerGroups = {
  list: endpoint('GET', '/provider_groups', {
    summary: 'List the provider groups',
    access: adminOnly,
    params: page,
    reply: success({ data: record('ProviderGroupList', { provider_groups: listOf(ProviderGroup) }) }),
  }),
  get: endpoint('GET', '/provider_groups/{id}', {
    summary: 'Show one provider group',
    access: adminOnly,
    params: { id: groupId },
    reply: success({ data: record('ProviderGroupShown', { provider_group: ProviderGroup }) }),
    errors: ['not_found'],
  }),
  create: endpoint('POST', '/provider_groups', {
    summary: 'Add a provider group',
    access: adminOnly,
    params: { name: groupName },
    reply: groupStored,
    errors: ['name_taken'],
  }),
  update: endpoint('POST', '/provider_groups/{id}', {
    summary: 'Rename a provider group',
    access: adminOnly,
    params: { id: groupId, name: groupName },
    reply: groupStored,
    errors: ['not_found', 'name_taken'],
  }),
  delete: endpoint('DELETE', '/provider_groups/{id}', {
    summary: 'Remove a provider group that no provider is in',
    access: adminOnly,
    params: { id: groupId },
    reply: success({}),
    errors: ['not_found', 'in_use'],
  }),
} satisfies Group;
