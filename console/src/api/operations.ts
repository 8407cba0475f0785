import type { Access, Api, Endpoint, InputOf, OutputOf, SentTo } from '@granary/contract';

/** An operation of the contract that keeps the types of its endpoint. */
export interface Op<E extends Endpoint = Endpoint> {
  readonly api: Api;
  readonly id: string;
  readonly group: string;
  readonly name: string;
  readonly endpoint: E;
}

export type Ops<A extends Api> = {
  readonly [G in keyof A['groups']]: {
    readonly [N in keyof A['groups'][G]]: A['groups'][G][N] extends Endpoint ? Op<A['groups'][G][N]> : never;
  };
};

export type SentBy<E extends Endpoint> = SentTo<E>;
export type Reply<E extends Endpoint> = OutputOf<E>;
export type Input<E extends Endpoint> = InputOf<E>;

/** Any input of any operation, where its type is not known beforehand. */
export type AnyInput = Readonly<Record<string, unknown>>;

/** `array.volumes.list` for each operation of an API, by group and name. */
export function operationsOf<A extends Api>(api: A): Ops<A> {
  const groups = Object.entries(api.groups).map(([group, endpoints]) => {
    const all = Object.entries(endpoints).map(
      ([name, endpoint]) => [name, { api, id: `${group}.${name}`, group, name, endpoint }] as const,
    );
    return [group, Object.fromEntries(all)] as const;
  });
  return Object.fromEntries(groups) as unknown as Ops<A>;
}

/** The records at hand whose creator decides who may call. */
export function createdThings(
  creator: NonNullable<Access['creator']>,
  input: AnyInput,
): { kind: string; name: string }[] {
  return [creator, creator.also].flatMap((thing) => {
    const given = thing && input[thing.param];
    const names = Array.isArray(given) ? given : [given];
    return names.flatMap((name) => (thing && typeof name === 'string' ? [{ kind: thing.kind, name }] : []));
  });
}

/**
 * Says in the page which operation a button is for, and what it is done to where that decides who may: what is offered
 * can be compared with what the role may call.
 */
export function operationMark({ api, id, endpoint }: Op, input: AnyInput = {}): Readonly<Record<string, string>> {
  const { creator } = endpoint.access;
  const records = creator ? createdThings(creator, input).map(({ name }) => name) : [];
  return { 'data-operation': `${api.name} ${id}`, ...(records.length > 0 && { 'data-record': records.join('\n') }) };
}

/** An operation by its name, for pages that are derived from the contract. */
export function findOperation(api: Api, group: string, name: string): Op | undefined {
  const endpoint = api.groups[group]?.[name];
  return endpoint && { api, id: `${group}.${name}`, group, name, endpoint };
}
