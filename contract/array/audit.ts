import { endpoint, type Group } from '../endpoint.ts';
import { optional, text } from '../params.ts';
import { int, str } from '../records.ts';
import { fileReply, response } from '../reply.ts';
import { signedIn } from './access.ts';
import { Type } from '../schema.ts';

/** Seconds since 1970, or text where it was asked for; null while nothing is logged. */
const moment = Type.Union([int(), str(), Type.Null()]);
const bound = (description: string) =>
  optional(
    text(`${description}, YYYY-MM-DD HH:MM:SS in UTC`, {
      max: 19,
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$',
      form: 'a time such as 2026-01-31 00:00:00',
      example: '2026-01-31 00:00:00',
    }),
  );

export const auditLogs = {
  getTimeRange: endpoint('GET', '/audited_volumes/logs_timerange', {
    summary: 'Show from when to when audited shares have logs',
    access: signedIn,
    params: {
      readable: optional(
        text('Sent with any value, even none: times as YYYY-MM-DD HH:MM:SS UTC, not as seconds since 1970', {
          min: 0,
          max: 16,
        }),
      ),
    },
    reply: response({ from_date_time: moment, to_date_time: moment }),
  }),
  download: endpoint('GET', '/audited_volumes/download', {
    summary: 'Download the logs of audited shares as a zip file',
    access: signedIn,
    params: { from: bound('Leave out what is older'), to: bound('Leave out what is newer') },
    reply: fileReply('application/zip'),
  }),
} satisfies Group;
