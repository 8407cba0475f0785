import { pageOf } from '@granary/kernel';
import type { PortalHandlers } from '../handlers.ts';
import type { Joining } from './joining.ts';
import type { CloudService } from './service.ts';

export function cloudRoutes(clouds: CloudService, joining: Joining): PortalHandlers {
  return {
    clouds: {
      list: (page, context) => {
        const { clouds: data, total } = clouds.list(context.actor, page);
        context.total = total;
        return { data };
      },
      get: ({ id }, { actor }) => ({ data: clouds.get(actor, id) }),
      create: async (input, { actor }) => ({ data: { cloud_id: await clouds.create(input, actor.username) } }),
      update: async ({ id, ...input }, { actor }) => ({
        data: { cloud_id: await clouds.update(id, input, actor.username) },
      }),
      adopt: async ({ id }, { actor }) => {
        await clouds.adopt(id, actor);
        return {};
      },
      joinCode: async (wish, { actor }) => ({ data: await joining.createCode(wish, actor) }),
      join: async (request, { ip }) => ({ data: await joining.join(request, ip) }),
      authority: () => ({ data: joining.authority() }),
      delete: async ({ id }, { actor }) => {
        await clouds.delete(id, actor);
        return {};
      },
    },
    driveTypes: {
      list: ({ id, ...page }, context) => {
        const all = clouds.driveTypes(context.actor, id);
        context.total = all.length;
        return { drive_types: pageOf(all, page) };
      },
      get: ({ cloud_id, drive_type_id }, { actor }) => ({
        drive_type: clouds.driveType(actor, cloud_id, drive_type_id),
      }),
      update: async ({ cloud_id, drive_type_id, ...change }, { actor }) => {
        const data = await clouds.updateDriveType(cloud_id, drive_type_id, change, actor);
        return { data, message: `Drive type ${data.key} was updated.` };
      },
    },
  };
}
