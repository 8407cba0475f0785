import { optional, type Param, type Params } from '../params.ts';
import { int } from '../records.ts';

/** Beside every list. */
export const count = int('All that match, not only those of this page');

type AllOptional<Q extends Params> = {
  readonly [K in keyof Q]: Q[K] extends Param<infer T> ? Param<T, 'optional'> : never;
};

/** The parameters of a creation as those of a change: what is not sent stays as it is, so defaults go. */
export function allOptional<const Q extends Params>(params: Q): AllOptional<Q> {
  const entries = Object.entries(params).map(([key, { default: _default, ...param }]) => [key, optional(param)]);
  return Object.fromEntries(entries) as AllOptional<Q>;
}
