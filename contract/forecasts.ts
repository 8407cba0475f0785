import { int, nullable, num, oneOf, record, str, type RecordOf } from './records.ts';

/** When something will be full, from a line through what is kept of its use. */
export const ForecastRecord = record('Forecast', {
  kind: str('`volume`, `pool`, `policy` or `array`'),
  id: str('What its own group names it by'),
  name: str(),
  capacity_bytes: int(),
  used_bytes: int(),
  state: oneOf('full', 'growing', 'steady', 'shrinking', 'no_history'),
  days_low: nullable(num('Days until it is full at the highest rate that its history allows')),
  days_likely: nullable(num('Days until it is full at the rate of its history; null where it does not fill up')),
  days_high: nullable(num('The same at the lowest rate; null where its use may as well stand still')),
  growth_day: nullable(int('Bytes more than a day ago; null where its history is shorter')),
  growth_week: nullable(int('Bytes more than 7 days ago')),
  growth_month: nullable(int('Bytes more than 30 days ago')),
  history_days: num('Days since its use is on record'),
  note: nullable(str('Why nothing is said of its days')),
});
export type ForecastRecord = RecordOf<typeof ForecastRecord>;
