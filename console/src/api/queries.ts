import type { Endpoint } from '@granary/contract';
import { StillRunning } from '@granary/client/errors';
import {
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
  type QueryClient,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import { orLastKnown } from './last-known.ts';
import type { AnyInput, Op, Reply, SentBy } from './operations.ts';
import { usePlace } from './places.tsx';
import { readAgain } from './reading-again.ts';
import { send, type Place, type SendOptions } from './send.ts';

/** So long a form waits for the lists behind it: one of ten thousand records takes longer. */
const SHOWN_MS_MAX = 3_000;

/** `[place, group, operation, input]`: the change feed names groups. */
export function keyOf(op: Op, place: Place, input: AnyInput) {
  return [place.base, op.group, op.name, input] as const;
}

export function readOptions<E extends Endpoint>(op: Op<E>, place: Place, input: SentBy<E>) {
  const queryKey = keyOf(op, place, input);
  return queryOptions({
    queryKey,
    queryFn: ({ client }) =>
      orLastKnown(
        async () => (await send(op, place, input as AnyInput)).value as Reply<E>,
        () => client.getQueryData<Reply<E>>(queryKey),
      ),
  });
}

interface ReadOptions {
  readonly enabled?: boolean;
  /** Where figures move without anybody's doing: asked again after this many milliseconds. */
  readonly everyMs?: number | undefined;
}

/** What an operation answers, kept up to date by the change feed. */
export function useRead<E extends Endpoint>(
  op: Op<E>,
  input: SentBy<E>,
  { enabled = true, everyMs }: ReadOptions = {},
): UseQueryResult<Reply<E>> {
  const place = usePlace(op.api.name);
  return useQuery({
    ...readOptions(op, place, input),
    enabled,
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
  });
}

/** What came of an action. `goesOn`: the service took the work and goes on with it. */
export interface Done<E extends Endpoint> {
  readonly value: Reply<E> | undefined;
  readonly goesOn: string | undefined;
}

/** An action. Lists of its group are read again when it is done. */
export function useAct<E extends Endpoint>(op: Op<E>): UseMutationResult<Done<E>, Error, SentBy<E>> {
  const place = usePlace(op.api.name);
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (input: SentBy<E>) => act(op, place, input),
    onSettled: () => Promise.race([refreshNow(client, place, [op.group]), pause(SHOWN_MS_MAX)]),
  });
}

export async function act<E extends Endpoint>(
  op: Op<E>,
  place: Place,
  input: SentBy<E>,
  options: SendOptions = {},
): Promise<Done<E>> {
  try {
    const { value } = await send(op, place, input, options);
    return { value: value as Reply<E>, goesOn: undefined };
  } catch (error) {
    if (error instanceof StillRunning) return { value: undefined, goesOn: error.message };
    throw error;
  }
}

/** Reads again what is shown of these groups; what is not shown is read when it is. */
export function refresh(client: QueryClient, place: Place, groups: readonly string[]): Promise<unknown> {
  return readGroups(client, place, groups, true);
}

/** For who has just done something: without a rest after the reading before. */
export function refreshNow(client: QueryClient, place: Place, groups: readonly string[]): Promise<unknown> {
  return readGroups(client, place, groups, false);
}

function readGroups(client: QueryClient, { base }: Place, groups: readonly string[], rests: boolean) {
  const queries = groups.flatMap((group) => client.getQueryCache().findAll({ queryKey: [base, group] }));
  const [shown, others] = [queries.filter((query) => query.isActive()), queries.filter((query) => !query.isActive())];
  for (const query of others) query.invalidate();
  return Promise.all(shown.map((query) => readAgain(client, query, { rests })));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
