import type { Static } from 'typebox';
import { endpoint, type Group } from '../endpoint.ts';
import { choice, integer, json, list, optional, page, text, withDefault } from '../params.ts';
import { int, listOf, nullable, oneOf, record, str, utc } from '../records.ts';
import { response } from '../reply.ts';
import { adminOnly } from './access.ts';
import { numberedPages } from './paging.ts';
import { Type } from '../schema.ts';

export const EventMessage = record('EventMessage', {
  msg_id: str(),
  msg_title: str(),
  msg_severity: str('0 (emergency) to 7 (debug), the syslog scale'),
  msg_time: utc(),
});

export const AccessLogEntry = record('AccessLogEntry', {
  id: int(),
  user: nullable(str('Username; null for requests without a signature')),
  controller: str('Part of the interface that was called, or the virtual controller that served a data request'),
  action: str('Operation that was called; those of the data path begin with `s3` or `swift`'),
  params: str('JSON text of the parameters, secrets left out, and of how it ended'),
  created: utc(),
});

const Sort = Type.Array(
  Type.Object({
    property: oneOf('id', 'user', 'controller', 'action', 'created'),
    direction: oneOf('ASC', 'DESC'),
  }),
  { maxItems: 5 },
);

export const messages = {
  list: endpoint('GET', '/messages', {
    summary: 'List the events, newest first',
    access: adminOnly,
    params: {
      severity: optional(
        integer('Keeps the events of this severity and worse, on the syslog scale', { max: 7, example: 4 }),
      ),
      attr_key: optional(
        text('Attribute that `attr_value` is compared with, such as `account`; `kind` is their kind', {
          max: 64,
          example: 'account',
        }),
      ),
      attr_value: optional(text('Keeps the events whose attribute has this value', { max: 256 })),
      ...page,
    },
    reply: response({ messages: listOf(EventMessage), count: int() }),
  }),
} satisfies Group;

export const accessLogKinds = ['data', 'changes', 'reads'] as const;
export type AccessLogKind = (typeof accessLogKinds)[number];

export const accessLogs = {
  list: endpoint('GET', '/access_logs', {
    summary: 'List who called what, newest first',
    access: adminOnly,
    params: {
      limit: withDefault(integer('Records a page holds; 0 puts as many on it as there can be', { max: 10_000 }), 0),
      page: numberedPages.page,
      kinds: optional(
        list(choice(accessLogKinds, 'A kind'), 'Only these: requests of `data`, calls that make `changes`, or `reads`'),
      ),
      sort: optional(
        json<Static<typeof Sort>>(Sort, 'Fields to sort by, the first counts most', {
          example: [{ property: 'created', direction: 'DESC' }],
        }),
      ),
    },
    reply: response({ access_logs: listOf(AccessLogEntry), count: int() }),
  }),
} satisfies Group;
