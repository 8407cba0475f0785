import { eventAttribute, type EventLog, type Store } from '@granary/kernel';
import { arrayEventKinds } from '@granary/contract/array';
import type { ArrayHandlers } from '../handlers.ts';

export function messageRoutes(store: Store, events: EventLog): ArrayHandlers<'messages'> {
  return {
    list: ({ severity, sort, attr_key: key, attr_value: value, start, limit }) =>
      store.read((db) =>
        events.list(db, {
          severityIs: severity,
          order: sort?.map(({ property: by, direction }) => ({ by, direction })),
          ...eventAttribute(key, value, arrayEventKinds),
          start,
          limit,
        }),
      ),
  };
}
