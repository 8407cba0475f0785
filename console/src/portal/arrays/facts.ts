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
    const cloudId = providers?.find(({ key }) => key === provider.key)?.cloud_id;
    return { cloud: clouds?.find(({ id }) => id === cloudId), actsAtOnce };
  };
}
