import { countedStates, requestKinds } from '@granary/contract/portal';
import { WHOLE, type Clock, type Measure, type Store } from '@granary/kernel';
import { countArraysByState } from '../arrays/repository.ts';
import { listClouds } from '../clouds/repository.ts';
import { countPendingByKind } from '../requests/repository.ts';
import { SpendReport } from './spend.ts';

const PRODUCTS = ['storage_array', 'object_storage'] as const;
const MILLISECONDS = 1000;

/** The measures of the portal beside its requests and its process. */
export function portalMeasures(portal: { readonly store: Store; readonly clock: Clock }, version: string): Measure[] {
  const { store } = portal;
  const spend = new SpendReport(portal);
  return [
    {
      name: 'granary_portal_info',
      help: 'Version of the portal, always 1',
      type: 'gauge',
      read: () => [{ labels: { version }, value: 1 }],
    },
    {
      name: 'granary_arrays',
      help: 'Arrays by product and state, deleted ones excepted; an order that was denied counts as `denied`',
      type: 'gauge',
      *read() {
        const counts = store.read(countArraysByState);
        for (const product of PRODUCTS)
          for (const state of countedStates)
            yield { labels: { product, state }, value: counts.get(`${product} ${state}`) ?? 0 };
      },
    },
    {
      name: 'granary_requests_waiting',
      help: 'Requests that wait for an administrator, by kind',
      type: 'gauge',
      *read() {
        const counts = store.read(countPendingByKind);
        for (const kind of requestKinds) yield { labels: { kind }, value: counts.get(kind) ?? 0 };
      },
    },
    {
      name: 'granary_spend_dollars_per_hour',
      help: 'What all that exists now costs, by provider; computed once a minute',
      type: 'gauge',
      read: async () => (await spend.current()).map(({ provider, rate }) => ({ labels: { provider }, value: rate })),
    },
    {
      name: 'granary_spend_month_dollars',
      help: 'What was used since the month began (UTC), by provider; computed once a minute',
      type: 'gauge',
      read: async () => (await spend.current()).map(({ provider, month }) => ({ labels: { provider }, value: month })),
    },
    {
      name: 'granary_cloud_seen_timestamp_seconds',
      help: 'When a cloud last answered the portal, recorded once a minute; absent before the first time',
      type: 'gauge',
      *read() {
        for (const { name, seenAt } of store.read((db) => listClouds(db, false, WHOLE)))
          if (seenAt !== null) yield { labels: { cloud: name }, value: seenAt / MILLISECONDS };
      },
    },
  ];
}
