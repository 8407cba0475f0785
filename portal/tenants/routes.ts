import type { PortalHandlers } from '../handlers.ts';
import type { ComputeService, FileRequest } from './computes/service.ts';
import type { TenantService } from './service.ts';

export function tenantRoutes(
  tenants: TenantService,
  computes: ComputeService,
  fileRequest: FileRequest,
): PortalHandlers {
  return {
    tenants: {
      list: (page, context) => {
        const { tenants: data, total } = tenants.list(context.actor, page);
        context.total = total;
        return { data };
      },
    },
    computes: {
      list: (page, context) => {
        const { computes: data, total } = computes.list(context.actor, page);
        context.total = total;
        return { data };
      },
      get: ({ id }, { actor }) => ({ data: computes.get(actor, id) }),
      delete: async ({ id }, { actor }) => ({ message: await computes.remove(actor, id, fileRequest) }),
      create: async (input, { actor }) => ({ message: await computes.order(input, actor, fileRequest) }),
    },
  };
}
