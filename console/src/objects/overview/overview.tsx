import { useIdentity } from '../../app/identity.tsx';
import { AccountOverview } from './account-overview.tsx';
import { ArrayOverview } from './array-overview.tsx';
import { MemberOverview } from './member-overview.tsx';

/** By what the person may see: the array, an account, or buckets. */
export default function Overview() {
  const me = useIdentity('objects');
  if (me?.role === 'objs_admin') return <ArrayOverview />;
  if (me?.role === 'account_admin' && me.accountId !== undefined) return <AccountOverview id={me.accountId} />;
  return <MemberOverview account={me?.accountName} />;
}
