import { Concern } from '../array-summary.ts';
import { endpoint, type Group } from '../endpoint.ts';
import { ForecastRecord } from '../forecasts.ts';
import { int, listOf, nullable, oneOf, record, str, utc } from '../records.ts';
import { success } from '../reply.ts';
import { signedIn } from './access.ts';
import { countedStates } from './denied-order.ts';
import { PortalEvent } from './events.ts';

const Capacity = record('OverviewCapacity', {
  raw_bytes: int('Of the drives of all arrays that are known'),
  usable_bytes: int('Of their RAID groups and storage policies: without what further copies and parity take'),
  pooled_bytes: int('Of their pools and storage policies: what volumes and objects can take'),
  used_bytes: int('What of that is taken'),
  arrays: int('Arrays that these figures are of'),
  silent_arrays: int('Arrays that should answer and did not lately, or never: their last figures count'),
  learnt_at: nullable(utc('The oldest of these figures; null without any')),
});

const Spend = record('OverviewSpend', {
  currency: str(),
  month: str('What was used since the month began (UTC)'),
  last_month: str('What was used in the month before'),
  hour: str('What an hour of all that exists now costs'),
});

const Attention = record('OverviewConcern', {
  ...Concern.properties,
  kind: str("The page that shows it: `arrays`, `clouds`, `webhooks`; or of an array's console, such as `pools`"),
  array_id: nullable(int('The array in which it is')),
  array_name: nullable(str()),
  product: nullable(oneOf('storage_array', 'object_storage')),
});

export const Overview = record('Overview', {
  health: oneOf('ok', 'warning', 'error'),
  capacity: Capacity,
  arrays: int('All that are not deleted'),
  arrays_by_state: listOf(record('ArraysInState', { state: oneOf(...countedStates), count: int() })),
  accounts: int('Object storage accounts'),
  spend: listOf(Spend),
  requests_waiting: int('Requests that nobody has decided'),
  attention: listOf(Attention),
  attention_count: int('All of them, also those that are not listed'),
  filling: listOf(ForecastRecord),
  events: nullable(listOf(PortalEvent)),
});

export const overview = {
  get: endpoint('GET', '/overview', {
    summary: 'Show how everything the caller may see is doing, with what needs attention',
    access: signedIn,
    reply: success({ data: Overview }),
  }),
} satisfies Group;
