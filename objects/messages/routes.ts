import type { EventLog, Store } from '@granary/kernel';
import type { ObjectsHandlers } from '../handlers.ts';

export function messageRoutes(store: Store, events: EventLog): ObjectsHandlers<'messages'> {
  return {
    list: ({ severity, attr_key: kind, attr_value: value, start, limit }) =>
      store.read((db) =>
        events.list(db, {
          severityMax: severity,
          ...(kind !== undefined && value !== undefined ? { subject: `${kind}:${value}` } : { subjectKind: kind }),
          start,
          limit,
        }),
      ),
  };
}
