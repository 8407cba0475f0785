import { useSyncExternalStore } from 'react';

/** Places whose change feed is cut off, since when. What is shown of them is as old as the cut. */
const lost = new Map<string, Date>();
const suspected = new Map<string, number>();
const listeners = new Set<() => void>();

/** A feed that is opened again at once, as after a restart of a proxy, is nothing to tell a person. */
const PATIENCE_MS = 4_000;

export function setConnected(base: string, isConnected: boolean): void {
  if (isConnected) {
    window.clearTimeout(suspected.get(base));
    suspected.delete(base);
    if (lost.delete(base)) publish();
    return;
  }
  if (suspected.has(base) || lost.has(base)) return;
  const since = new Date();
  const timer = window.setTimeout(() => {
    suspected.delete(base);
    lost.set(base, since);
    publish();
  }, PATIENCE_MS);
  suspected.set(base, timer);
}

function publish(): void {
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Since when the service itself has not been heard of; undefined while it is. */
export function useLostSince(): Date | undefined {
  return useSyncExternalStore(subscribe, () => lost.get(''));
}
