import { eventAttribute, badParameter, type EventLog, type EventOrder, type Store } from '@granary/kernel';
import { arrayEventKinds } from '@granary/contract/array';
import type { ArrayHandlers } from '../handlers.ts';

const PROPERTIES: readonly EventOrder['by'][] = ['msg_id', 'msg_title', 'msg_severity', 'msg_time'];

export function messageRoutes(store: Store, events: EventLog): ArrayHandlers<'messages'> {
  return {
    list: ({ severity, sort, attr_key: key, attr_value: value, start, limit }) =>
      store.read((db) =>
        events.list(db, {
          severityIs: severity,
          order: sort?.map(orderOf),
          ...eventAttribute(key, value, arrayEventKinds),
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
