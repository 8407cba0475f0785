import type { Static } from 'typebox';
import { endpoint, type Group } from '../endpoint.ts';
import { integer, json, optional, page, text } from '../params.ts';
import { listOf, oneOf, record, str } from '../records.ts';
import { response } from '../reply.ts';
import { signedIn } from './access.ts';
import { count } from './shared.ts';
import { Type } from '../schema.ts';

export const Message = record('Message', {
  msg_id: str(),
  msg_title: str(),
  msg_severity: str(),
  msg_time: str(),
});

const Orders = Type.Array(
  Type.Object({
    property: oneOf('msg_id', 'msg_title', 'msg_severity', 'msg_time'),
    direction: oneOf('ASC', 'DESC'),
  }),
  { minItems: 1, maxItems: 4 },
);

export const messages = {
  list: endpoint('GET', '/messages', {
    summary: 'List what happened on the array, newest first unless sorted otherwise',
    access: signedIn,
    params: {
      severity: optional(integer('Only this severity, on the syslog scale: 3 error, 4 warning, 6 notice', { max: 7 })),
      sort: optional(
        json<Static<typeof Orders>>(Orders, 'Fields to sort by, as JSON', {
          example: [{ property: 'msg_time', direction: 'ASC' }],
        }),
      ),
      attr_key: optional(
        text('Only messages with this attribute, such as `volume`; `kind` compares `attr_value` with their kind', {
          max: 64,
          example: 'volume',
        }),
      ),
      attr_value: optional(
        text('Only messages where that attribute is this; logins are shown for the kinds `login` and `all`', {
          max: 256,
          example: 'volume-00000001',
        }),
      ),
      ...page,
    },
    reply: response({ messages: listOf(Message), count }),
  }),
} satisfies Group;
