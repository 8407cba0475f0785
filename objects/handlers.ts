import type { objectsApi } from '@granary/contract/objects';
import type { Handlers } from '@granary/kernel';
import type { ObjectsActor } from './actor.ts';

type All = Handlers<typeof objectsApi, ObjectsActor>;

/** What a resource's routes return: its group of the contract, or the part of it that is served. */
export type ObjectsHandlers<G extends keyof All> = NonNullable<All[G]>;
