import { accountUrl } from '../users/view.ts';
import { epochSeconds, trueFalse } from '../wording.ts';
import type { AccountRow } from './repository.ts';
import type { AccountFigures } from './service.ts';

interface Surroundings {
  readonly publicUrls: () => readonly string[];
  readonly figures: AccountFigures;
}

export function accountView(row: AccountRow, { publicUrls, figures }: Surroundings) {
  return {
    update_time: epochSeconds(row.modified_at),
    name: row.name,
    is_system_account: trueFalse(row.is_system === 1),
    public_url_list: publicUrls().map((url) => accountUrl(url, row.id)),
    enabled: trueFalse(row.enabled === 1),
    email: row.email,
    state: row.state,
    create_time: epochSeconds(row.created_at),
    id: row.id,
    description: row.state === 'deleting' ? whatIsLeft(row, figures) : null,
  };
}

function whatIsLeft({ id }: AccountRow, figures: AccountFigures): string {
  const { objects, buckets } = figures.usage(id);
  return `Being deleted; ${objects} objects in ${buckets} containers are left.`;
}
