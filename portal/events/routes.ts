import type { PortalHandlers } from '../handlers.ts';
import type { Tools } from '../tools.ts';

export function eventRoutes({ store, events }: Tools): PortalHandlers {
  return {
    events: {
      list: ({ severity, start, limit }) => {
        const { messages, count } = store.read((db) => events.list(db, { severityMax: severity, start, limit }));
        return { data: messages, count };
      },
    },
  };
}
