import type { Api, Endpoint, OutputOf, SentTo } from '@granary/contract';
import { call, type Connection } from './call.ts';

/** A call of one endpoint: nothing to pass where nothing is required. */
type Call<E extends Endpoint> =
  Partial<SentTo<E>> extends SentTo<E>
    ? (input?: SentTo<E>) => Promise<OutputOf<E>>
    : (input: SentTo<E>) => Promise<OutputOf<E>>;

/** `client.arrays.list()`: every endpoint of an API as a typed call, straight from the contract. */
export type Client<A extends Api> = {
  readonly [G in keyof A['groups']]: {
    readonly [N in keyof A['groups'][G]]: A['groups'][G][N] extends Endpoint ? Call<A['groups'][G][N]> : never;
  };
};

export function createClient<A extends Api>(api: A, connection: Connection): Client<A> {
  const groups = Object.entries(api.groups).map(([group, endpoints]) => {
    const calls = Object.entries(endpoints).map(
      ([name, endpoint]) =>
        [name, (input: Readonly<Record<string, unknown>> = {}) => call(api, endpoint, connection, input)] as const,
    );
    return [group, Object.fromEntries(calls)] as const;
  });
  return Object.fromEntries(groups) as Client<A>;
}
