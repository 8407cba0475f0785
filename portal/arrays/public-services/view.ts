import type { RecordOf } from '@granary/contract';
import type { PublicObjectService } from '@granary/contract/portal';
import type { PublicService } from './public-service.ts';

export type PublicServiceView = RecordOf<typeof PublicObjectService>;

/** Without its password. `price`: USD an hour, as the array's provider sells it now. */
export function publicServiceView(service: PublicService, price: string): PublicServiceView {
  return {
    id: service.id,
    array_id: service.arrayId,
    account_name: service.accountName,
    username: service.username,
    ip: service.ip,
    host: service.host,
    auto_approve: service.autoApprove,
    price,
  };
}
