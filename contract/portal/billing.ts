import { endpoint, type Group } from '../endpoint.ts';
import { optional, text } from '../params.ts';
import { fileReply } from '../reply.ts';
import { signedIn } from './access.ts';

const moment = (what: string, example: string) =>
  text(`${what}, UTC: YYYY-MM-DD HH:MM`, {
    max: 16,
    pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}$',
    form: 'a time such as 2026-01-31 23:59',
    example,
  });

export const billing = {
  download: endpoint('GET', '/billing_items', {
    summary: 'What was used and what it costs, as a zip of CSV files; an administrator gets all users',
    access: signedIn,
    params: {
      start_datetime: moment('From', '2026-01-01 00:00'),
      end_datetime: moment('To', '2026-02-01 00:00'),
      user_id: optional(
        text('Only this user', { max: 16, pattern: '^\\d+$', form: 'the number of a user', example: '1' }),
      ),
    },
    reply: fileReply('application/zip'),
    errors: ['not_found'],
  }),
} satisfies Group;
