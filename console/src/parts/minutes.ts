import { useSyncExternalStore } from 'react';

const MINUTE_MS = 60_000;
const watching = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** The minute it is, so that what says "2 minutes ago" says "3 minutes ago" a minute later. One timer serves the page. */
export function useMinute(): number {
  return useSyncExternalStore(watch, () => Math.trunc(Date.now() / MINUTE_MS));
}

function watch(changed: () => void): () => void {
  watching.add(changed);
  timer ??= setInterval(() => {
    for (const each of watching) each();
  }, MINUTE_MS);
  return () => {
    watching.delete(changed);
    if (watching.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
