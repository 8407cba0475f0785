import type { ArrayHandlers } from '../handlers.ts';
import type { ControllerService } from './service.ts';
import { networkView } from './view.ts';

export function controllerRoutes(controllers: ControllerService): ArrayHandlers<'controllers'> {
  return {
    list: ({ start, limit }, { actor }) => {
      const all = controllers.list(actor.role === 'admin');
      return { vcontrollers: pageOf(all, start, limit), count: all.length };
    },
    listVirtualNetworks: ({ start, limit }) => {
      const all = controllers.networks();
      return { vnis: pageOf(all, start, limit).map(networkView), count: all.length };
    },
    failover: async ({ force }, { actor }) => {
      await controllers.failover(force, actor.username);
      return {};
    },
    setChap: async (change, { actor }) => {
      await controllers.chap.change(change, actor.username);
      return {};
    },
    listSessions: async ({ id, start, limit }) => {
      const all = await controllers.sessions(id);
      return { sessions: pageOf(all, start, limit), count: all.length };
    },
  };
}

function pageOf<T>(all: readonly T[], start: number, limit: number): T[] {
  return all.slice(start, limit === 0 ? undefined : start + limit);
}
