import type { QueryClient } from '@tanstack/react-query';
import { paced } from './paced.ts';

interface Base {
  readonly base: string;
}

const pacedRefreshes = new WeakMap<QueryClient, Map<string, () => void>>();

/** After an action: reads again at once what is shown of these groups; what is not shown is read when it is. */
export function refresh(client: QueryClient, place: Base, groups: readonly string[]): Promise<unknown> {
  return Promise.all(groups.map((group) => client.invalidateQueries({ queryKey: [place.base, group] })));
}

/**
 * After changes at the service: the same, at the pace that reading allows. A list of many records may take longer to read
 * than the next change takes to come; it is read to its end, then once more.
 */
export function refreshPaced(client: QueryClient, place: Base, groups: readonly string[]): void {
  const ofClient = pacedRefreshes.get(client) ?? new Map<string, () => void>();
  pacedRefreshes.set(client, ofClient);
  for (const group of groups) {
    const key = JSON.stringify([place.base, group]);
    const again = ofClient.get(key) ?? paced(() => readAgain(client, [place.base, group]));
    ofClient.set(key, again);
    again();
  }
}

async function readAgain(client: QueryClient, queryKey: readonly string[]): Promise<void> {
  const isUnderWay = client.isFetching({ queryKey }) > 0;
  await client.invalidateQueries({ queryKey }, { cancelRefetch: false });
  // What was under way may have been read before the change.
  if (isUnderWay) await client.invalidateQueries({ queryKey }, { cancelRefetch: false });
}
