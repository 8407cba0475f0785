import type { Access } from '@granary/contract';
import type { CreatedKind } from '@granary/contract/array';
import { fail } from '@granary/kernel';
import type { ArrayActor } from '../access.ts';
import type { ArrayTools } from '../tools.ts';
import { creatorsOf } from './creators.ts';

type Input = Readonly<Record<string, unknown>>;

/**
 * Lets users below an administrator change what they created, and nothing else. What does not exist passes: the handler
 * says so in its own words.
 */
export class CreatorService {
  readonly #tools: Pick<ArrayTools, 'store'>;
  /** The volumes of a snapshot set that is not taken yet, which only the service of sets knows. */
  readonly #suspendedVolumes: (set: string) => readonly string[];

  constructor(tools: Pick<ArrayTools, 'store'>, suspendedVolumes: (set: string) => readonly string[]) {
    this.#tools = tools;
    this.#suspendedVolumes = suspendedVolumes;
  }

  authorise(actor: ArrayActor, { creator }: Access, input: Input): void {
    if (creator === undefined || actor.role === 'admin') return;
    for (const { kind, param } of creator.also ? [creator, creator.also] : [creator]) {
      const given = input[param];
      for (const name of Array.isArray(given) ? given : [given]) this.#demand(actor, kind as CreatedKind, String(name));
    }
  }

  #demand(actor: ArrayActor, kind: CreatedKind, name: string): void {
    if (!this.#creatorsOf(kind, name).every((id) => isCreator(actor, id)))
      throw fail('not_allowed', { roles: `the role admin, because another user created ${name}` });
  }

  /** Of the names given, those that `authorise` lets the actor change. What does not exist is left out. */
  find(actor: ArrayActor, kind: CreatedKind, names: readonly string[]): string[] {
    return [...new Set(names)].filter((name) => {
      const creators = this.#creatorsOf(kind, name);
      return creators.length > 0 && (actor.role === 'admin' || creators.every((id) => isCreator(actor, id)));
    });
  }

  #creatorsOf(kind: CreatedKind, name: string): (number | null)[] {
    return this.#tools.store.read((db) => {
      const onRecord = creatorsOf(db, kind, name);
      if (kind !== 'snapshot_set') return onRecord;
      const suspended = this.#suspendedVolumes(name).flatMap((volume) => creatorsOf(db, 'volume', volume));
      return [...onRecord, ...suspended];
    });
  }
}

function isCreator(actor: ArrayActor, id: number | null): boolean {
  return id !== null && `user:${id}` === actor.id;
}
