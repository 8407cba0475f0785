import { useSyncExternalStore } from 'react';

/** Places whose change feed is cut off, since when. What is shown of them is as old as the cut. */
const lost = new Map<string, Date>();
const suspected = new Map<string, ReturnType<typeof setTimeout>>();
const listeners = new Set<() => void>();
/** Of all that are lost, the one that is shown: without the service its arrays cannot be reached either. */
let shown: Lost | undefined;

interface Lost {
  /** `''` for the service, `/via/7` for an array behind it. */
  readonly base: string;
  readonly since: Date;
}

/** A feed that is opened again at once, as after a restart of a proxy, is not worth a banner. */
const PATIENCE_MS = 4_000;

export function setConnected(base: string, isConnected: boolean): void {
  if (isConnected) {
    clearTimeout(suspected.get(base));
    suspected.delete(base);
    if (lost.delete(base)) publish();
    return;
  }
  if (suspected.has(base) || lost.has(base)) return;
  const since = new Date();
  const timer = setTimeout(() => {
    suspected.delete(base);
    lost.set(base, since);
    publish();
  }, PATIENCE_MS);
  suspected.set(base, timer);
}

function publish(): void {
  const [base, since] = [...lost].find(([place]) => place === '') ?? [...lost][0] ?? [];
  shown = base === undefined || since === undefined ? undefined : { base, since };
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The lost connection that is shown, and since when it is lost; undefined while all are there. */
export function lostNow(): Lost | undefined {
  return shown;
}

export function useLost(): Lost | undefined {
  return useSyncExternalStore(subscribe, lostNow);
}
