import { objectsEventKinds } from '@granary/contract/objects';
import { eventAttribute, type EventLog, type Store } from '@granary/kernel';
import type { ObjectsHandlers } from '../handlers.ts';

export function messageRoutes(store: Store, events: EventLog): ObjectsHandlers<'messages'> {
  return {
    list: ({ severity, attr_key: key, attr_value: value, start, limit }) =>
      store.read((db) =>
        events.list(db, { severityMax: severity, ...eventAttribute(key, value, objectsEventKinds), start, limit }),
      ),
  };
}
