import type { PortalHandlers } from '../../handlers.ts';
import type { PublicServiceService } from './service.ts';

export function publicServiceRoutes(services: PublicServiceService): PortalHandlers {
  return {
    publicObjects: {
      create: async ({ array_id: id, ...input }, { actor }) => ({
        data: await services.create(actor, id, input),
        message: 'The public object service was created.',
      }),
      update: async ({ array_id: id, ...update }, { actor }) => ({
        data: await services.update(actor, id, update),
        message: 'The public object service was updated.',
      }),
      get: ({ array_id: id }, { actor }) => ({ data: services.get(actor, id) }),
      delete: async ({ array_id: id }, { actor }) => {
        await services.delete(actor, id);
        return {};
      },
    },
  };
}
