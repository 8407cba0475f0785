import { badParameter, type EventLog, type EventOrder, type Store } from '@granary/kernel';
import type { ArrayHandlers } from '../handlers.ts';

const PROPERTIES: readonly EventOrder['by'][] = ['msg_id', 'msg_title', 'msg_severity', 'msg_time'];

export function messageRoutes(store: Store, events: EventLog): ArrayHandlers<'messages'> {
  return {
    list: ({ severity, sort, attr_key: kind, attr_value: value, start, limit }) =>
      store.read((db) =>
        events.list(db, {
          severityIs: severity,
          order: sort?.map(orderOf),
          ...(kind !== undefined && value !== undefined ? { subject: `${kind}:${value}` } : { subjectKind: kind }),
          start,
          limit,
        }),
      ),
  };
}

function orderOf({ property, direction }: { property: string; direction: 'ASC' | 'DESC' }): EventOrder {
  const by = PROPERTIES.find((name) => name === property);
  if (!by) throw badParameter('sort', `can only be by ${PROPERTIES.join(', ')}`);
  return { by, direction };
}
