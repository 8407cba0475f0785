import { endpoint, type Group } from '../endpoint.ts';
import { choice, optional, recordNumber, text, withDefault } from '../params.ts';
import { bool, int, listOf, mapOf, record, str, utc } from '../records.ts';
import { fileReply, success } from '../reply.ts';
import { signedIn } from './access.ts';
import { moment } from './moments.ts';

const window = {
  start_datetime: moment('From', '2026-01-01 00:00'),
  end_datetime: moment('To', '2026-02-01 00:00'),
  user_id: optional(text('Only this user', { max: 16, pattern: '^\\d+$', form: 'the number of a user', example: '1' })),
};

const kinds = mapOf(str('USD'));

const SpendOfArray = record('SpendOfArray', {
  array_id: int(),
  name: str(),
  user: str('Whose array it is'),
  provider: str(),
  deleted: bool(),
  amount: str('USD'),
  kinds,
});

const SpendOfPeriod = record('SpendOfPeriod', { from: utc(), amount: str('USD'), kinds });

const SpendSummary = record('SpendSummary', {
  currency: str(),
  amount: str('USD, of the whole time'),
  kinds,
  arrays: listOf(SpendOfArray),
  periods: listOf(SpendOfPeriod),
});

export const billing = {
  download: endpoint('GET', '/billing_items', {
    summary: 'What was used and what it costs, as a zip of CSV files; an administrator gets all users',
    access: signedIn,
    params: window,
    reply: fileReply('application/zip'),
    errors: ['not_found'],
  }),
  summary: endpoint('GET', '/billing_summary', {
    summary: 'What was used and what it costs, in sums by day or month, by array and by kind of item',
    access: signedIn,
    params: {
      ...window,
      array_id: optional(recordNumber('Only this array')),
      per: withDefault(choice(['day', 'month'], 'How long the periods are, in UTC'), 'day'),
    },
    reply: success({ data: SpendSummary }),
    errors: ['not_found'],
  }),
} satisfies Group;
