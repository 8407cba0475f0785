import type { ArrayHandlers } from '../handlers.ts';
import type { PerformanceService } from '../performance/service.ts';
import type { VolumeService } from '../volumes/service.ts';
import type { ServerService } from './service.ts';

export function serverRoutes(
  servers: ServerService,
  { volumes, performance }: { readonly volumes: VolumeService; readonly performance: PerformanceService },
): Required<ArrayHandlers<'servers'>> {
  const { sessions } = servers;
  return {
    list: ({ start, limit }) => servers.list(start, limit),
    get: ({ id }) => ({ server: servers.get(id) }),
    create: async (input, { actor }) => ({ server_name: await servers.create(input, actor.username) }),
    update: async ({ id, ...wanted }, { actor }) => {
      await servers.update(id, wanted, actor.username);
      return { server_name: id };
    },
    delete: async ({ id }, { actor }) => {
      await servers.delete(id, actor.username);
      return { server_name: id };
    },
    rename: async ({ id, new_name: newName }, { actor }) => {
      await servers.rename(id, newName, actor.username);
      return { server_name: id };
    },
    listSessions: async ({ id, start, limit }) => {
      const all = await sessions.ofServer(id);
      return { sessions: all.slice(start, limit === 0 ? undefined : start + limit), count: all.length };
    },
    closeSession: async ({ initiator, target }, { actor }) => {
      await sessions.close(initiator, target, actor.username);
      return {};
    },
    listVolumes: ({ id, start, limit }) => {
      const { name } = servers.require(id);
      const { volumes: found, count } = volumes.list({ server: name }, { start, limit });
      return { volumes: found.map((volume) => ({ ...volume, ...servers.wayTo(volume.name, name) })), count };
    },
    attachVolumes: async (input, { actor }) => {
      const { id: names, volume_name: volumes, access_type: accessType, lun, readonly: readOnly, force } = input;
      await servers.attach({ servers: names, volumes, accessType, lun, readOnly, force }, actor.username);
      return {};
    },
    performance: ({ id, interval }) => {
      const { name, createdAt } = servers.require(id);
      const usages = performance.points({ kind: 'server', id: name, createdAt }, interval);
      return { server_name: name, usages, count: usages.length };
    },
  };
}
