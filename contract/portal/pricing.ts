import { endpoint, type Group } from '../endpoint.ts';
import { file, list, recordNumber } from '../params.ts';
import { bool, int, mapOf, record, str } from '../records.ts';
import { success } from '../reply.ts';
import { adminOnly, signedIn } from './access.ts';

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

export const pricing = {
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
