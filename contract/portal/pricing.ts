import { endpoint, type Group } from '../endpoint.ts';
import { choice, file, list, optional, price, recordNumber, text } from '../params.ts';
import { bool, int, listOf, mapOf, oneOf, record, str, utc } from '../records.ts';
import { success } from '../reply.ts';
import { adminOnly, signedIn } from './access.ts';
import { moment } from './moments.ts';

/** What can have a price; the `kind` column of a price file. */
export const priceKinds = [
  'engine',
  'drive',
  'cache_gb',
  'app_engine',
  'encryption',
  'public_ip',
  'proxy',
  'public_objs',
] as const;
export type PriceKind = (typeof priceKinds)[number];

const ProviderPrices = record('ProviderPrices', {
  currency: str(),
  type: str(),
  name: str(),
  cloud_name: str(),
  type_id: int(),
  data: mapOf(record('EnginePrice', { value: str('USD an hour'), available_in_cloud: bool() })),
});

const PriceRecord = record('Price', {
  kind: oneOf(...priceKinds),
  key: str('Which of its kind; where there is just one, the kind again'),
  hourly_price_usd: str(),
  effective_from: utc(),
  state: oneOf('past', 'present', 'planned'),
});

const providerId = recordNumber('The provider');
const item = {
  provider_id: providerId,
  kind: choice(priceKinds, 'What has the price', { example: 'drive' }),
  key: optional(
    text('Which of its kind, by its key; left out where there is just one', { max: 128, example: 'SSD_10GB' }),
  ),
};

export const pricing = {
  list: endpoint('GET', '/pricing/items', {
    summary: 'Every price of a provider: present, past and planned, by item and time',
    access: signedIn,
    params: { provider_id: providerId },
    reply: success({ data: listOf(PriceRecord) }),
    errors: ['not_found'],
  }),
  set: endpoint('POST', '/pricing/items', {
    summary:
      'Set what an hour of an item costs, from now on or from a later time; what was planned after that is dropped',
    access: adminOnly,
    params: {
      ...item,
      price: price('USD an hour'),
      from: optional(moment('From when it counts; left out: from now on', '2027-01-01 00:00')),
    },
    reply: success({}),
    errors: ['not_found'],
  }),
  cancel: endpoint('DELETE', '/pricing/items', {
    summary: 'Drop the planned prices of an item; the present one stays',
    access: adminOnly,
    params: item,
    reply: success({}),
    errors: ['not_found'],
  }),
  get: endpoint('GET', '/pricing', {
    summary: 'What an hour of each engine costs, by provider',
    access: signedIn,
    reply: success({ data: record('PriceTable', { io_engines: mapOf(ProviderPrices) }) }),
  }),
  upload: endpoint('POST', '/pricing', {
    summary: 'Set many prices at once from a CSV or JSON file: all of it or nothing',
    access: adminOnly,
    params: {
      provider_ids: list(recordNumber('A provider'), 'Providers the prices are for', { max: 100, example: [1] }),
      file: file('`kind,key,hourly_price_usd` as CSV with that header, or the same as a JSON list'),
    },
    reply: success({}),
    errors: ['not_found', 'price_file'],
  }),
} satisfies Group;
