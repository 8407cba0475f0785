import type { PortalHandlers } from '../handlers.ts';
import type { Tools } from '../tools.ts';

export function eventRoutes({ store, events }: Tools): PortalHandlers {
  return {
    events: {
      list: ({ severity, kind, start, limit }) => {
        const { messages, count } = store.read((db) => events.list(db, { severityMax: severity, kind, start, limit }));
        return { data: messages, count };
      },
    },
  };
}
