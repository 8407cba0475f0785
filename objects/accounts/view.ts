import { counted } from '@granary/contract';
import type { AccountFigures } from '../tools.ts';
import { epochSeconds, storedGigabytes, trueFalse } from '../wording.ts';
import type { Account } from './account.ts';

interface Surroundings {
  readonly publicUrls: () => readonly string[];
  readonly figures: AccountFigures;
}

export function accountView(account: Account, { publicUrls, figures }: Surroundings) {
  const { bytes, buckets, objects } = figures.usage(account.id);
  return {
    update_time: epochSeconds(account.modifiedAt),
    name: account.name,
    is_system_account: trueFalse(account.isSystem),
    public_url_list: publicUrls().map((url) => accountUrl(url, account.id)),
    enabled: trueFalse(account.enabled),
    email: account.email,
    state: account.state,
    create_time: epochSeconds(account.createdAt),
    id: account.id,
    description:
      account.state === 'deleting'
        ? `Being deleted; ${counted(objects, 'objects')} in ${counted(buckets, 'containers')} are left.`
        : account.description,
    used_capacity: storedGigabytes(bytes),
    containers: buckets,
    objects,
  };
}

/** Where the containers of an account are. */
export function accountUrl(publicUrl: string, accountId: string): string {
  return `${publicUrl}/v1/AUTH_${accountId}`;
}
