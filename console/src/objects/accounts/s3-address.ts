import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../app/identity.tsx';

/** Where programs reach the buckets of an account; undefined where the person may not look at the account. */
export function useS3Address(accountId: string | undefined): string | undefined {
  const may = useMay();
  const input = { account_id: accountId ?? '' };
  const isKnown = accountId !== undefined && may(objects.accounts.get, input);
  const { data } = useRead(objects.accounts.get, input, { enabled: isKnown });
  const [address] = data?.count.public_url_list ?? [];
  return address === undefined ? undefined : new URL(address).origin;
}
