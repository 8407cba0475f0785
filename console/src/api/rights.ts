import type { QueryClient } from '@tanstack/react-query';
import type { Place } from './send.ts';

type Listener = () => Promise<void>;

const listeners = new Set<Listener>();

/** Called when the rights of the person at the service this page came from may have changed. */
export function whenRightsMayChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Reads again who the person is at this place: what is offered follows. */
export async function readRights(client: QueryClient, place: Place): Promise<void> {
  if (place.base === '') await Promise.all([...listeners].map((listener) => listener()));
  else await client.invalidateQueries({ queryKey: ['', 'arrays', 'getIdentity'] });
}
