import { useIdentity } from '../../app/identity.tsx';
import { Empty } from '../../parts/messages.tsx';
import { OneAccount } from './account.tsx';

/** The account that its administrator belongs to. */
export default function OwnAccount() {
  const account = useIdentity('objects')?.accountId;
  return account === undefined ? <Empty title="You belong to no account here." /> : <OneAccount id={account} />;
}
