import type { RecordOf } from '@granary/contract';
import type { Overview } from '@granary/contract/portal';

export type Attention = RecordOf<typeof Overview>['attention'][number];

const BRANCHES = { storage_array: 'block', object_storage: 'objects' } as const;
/** Pages of single things; of other kinds there is the list alone. */
const SINGLE: ReadonlySet<string> = new Set(['drives', 'raid-groups', 'pools', 'volumes']);

/** Where one acts on what needs attention. */
export function pageOfConcern({ kind, id, array_id: array, product }: Attention): string {
  if (array === null) return `/${kind}`;
  if (kind === 'arrays' || product === null) return `/arrays/${array}`;
  const page = `/arrays/${array}/${BRANCHES[product]}/${kind}`;
  return product === 'storage_array' && id !== '' && SINGLE.has(kind) ? `${page}/${encodeURIComponent(id)}` : page;
}
