import { endpoint, type Group } from '../endpoint.ts';
import { portalEventKinds } from '../event-kinds.ts';
import { choice, integer, optional, page } from '../params.ts';
import { int, listOf, record, str } from '../records.ts';
import { success } from '../reply.ts';
import { adminOnly } from './access.ts';

export const PortalEvent = record('PortalEvent', {
  msg_id: str(),
  msg_title: str(),
  msg_severity: str(),
  msg_time: str(),
});

export const events = {
  list: endpoint('GET', '/messages', {
    summary: 'What happened, newest first',
    access: adminOnly,
    params: {
      ...page,
      severity: optional(integer('This severity or worse, on the syslog scale', { max: 7 })),
      kind: optional(choice(portalEventKinds, 'Only what is about this')),
    },
    reply: success({ data: listOf(PortalEvent), count: int() }),
  }),
} satisfies Group;
