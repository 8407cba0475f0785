import type { Query, QueryClient } from '@tanstack/react-query';

/*
 * Something that is shown changed: it is read again. Changes may come each second, and a list of ten thousand takes longer
 * than that to read. So there is one reading of a query at a time, and one that waits for it, however many changes
 * arrive meanwhile; and where nobody waits for it, a long reading is followed by a rest.
 */

/** A rest takes three times as long as the reading before it: reading takes a quarter of the time at most. */
const REST = 3;
const REST_MS_MAX = 60_000;

interface Tools {
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
}

interface Turn {
  running: Promise<unknown>;
  /** Has not begun: it will see whatever changes until it does. */
  next: Promise<void> | undefined;
  restUntil: number;
  wake: (() => void) | undefined;
}

const turns = new WeakMap<Query, Turn>();

const tools: Tools = {
  now: () => performance.now(),
  pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/** Resolves when it was read. `rests`: nobody waits for it; who does ends a rest. */
export function readAgain(
  client: QueryClient,
  query: Query,
  { rests = false, now, pause }: Partial<Tools> & { readonly rests?: boolean } = {},
): Promise<void> {
  const turn = turns.get(query) ?? {
    running: Promise.resolve(),
    next: undefined,
    restUntil: -Infinity,
    wake: undefined,
  };
  turns.set(query, turn);
  turn.next ??= read({ client, query, turn, rests, now: now ?? tools.now, pause: pause ?? tools.pause });
  if (!rests) turn.wake?.();
  return turn.next;
}

interface Reading extends Tools {
  readonly client: QueryClient;
  readonly query: Query;
  readonly turn: Turn;
  readonly rests: boolean;
}

async function read({ client, query, turn, rests, now, pause }: Reading): Promise<void> {
  await turn.running;
  await query.promise?.catch(() => undefined);
  const rest = turn.restUntil - now();
  if (rests && rest > 0) await Promise.race([pause(rest), new Promise<void>((resolve) => (turn.wake = resolve))]);
  turn.next = undefined;
  const began = now();
  turn.running = client.invalidateQueries({ queryKey: query.queryKey, exact: true });
  await turn.running;
  turn.restUntil = now() + Math.min(REST_MS_MAX, REST * (now() - began));
}
