import type { arrayApi } from '@granary/contract/array';
import type { Handlers } from '@granary/kernel';
import type { ArrayActor } from './access.ts';

type All = Handlers<typeof arrayApi, ArrayActor>;

/** What a resource's routes return: its group of the contract, or the part of it that is served. */
export type ArrayHandlers<G extends keyof All> = NonNullable<All[G]>;
