import { portal } from '../../api/portal.ts';
import { useRead } from '../../api/queries.ts';
import { useSession } from '../../app/session.tsx';
import type { ActionFacts } from './actions.ts';
import type { PortalArray } from './record.ts';

/** What the actions of arrays need to know beside their records. */
export function useActionFacts(): (array: Pick<PortalArray, 'provider'>) => ActionFacts {
  const clouds = useRead(portal.clouds.list, {}).data?.data;
  const providers = useRead(portal.providers.list, {}).data?.data;
  const { role, auto_approved: isAutoApproved } = useSession();
  const actsAtOnce = role === 'admin' || isAutoApproved === true;
  return ({ provider }) => {
    const own = providers?.find(({ key }) => key === provider.key);
    const providerId = own === undefined ? undefined : Number(own.id);
    return { cloud: clouds?.find(({ id }) => id === own?.cloud_id), providerId, actsAtOnce };
  };
}
