import { fail, type Store } from '@granary/kernel';
import type { QuotaScope } from '../engine/shares.ts';
import type { NasService } from '../nas/service.ts';
import { listProjectNames } from './repository.ts';

export interface NameReader {
  /** By name, or by number in digits; text that says what is wrong. */
  read(text: string): number | string;
}

/** Who quotas are of: NAS users and groups of the array, projects of the share. */
export class AccountNames {
  readonly #store: Store;
  readonly #nas: NasService;

  constructor(store: Store, nas: NasService) {
    this.#store = store;
    this.#nas = nas;
  }

  byNumber(volume: string, scope: QuotaScope): ReadonlyMap<number, string> {
    return new Map(this.#list(volume, scope).map(({ name, number }) => [number, name]));
  }

  /** Whether an account has that number. */
  checker(volume: string): (scope: QuotaScope, id: number) => boolean {
    const known = new Map<QuotaScope, ReadonlyMap<number, string>>();
    return (scope, id) => {
      const names = known.get(scope) ?? this.byNumber(volume, scope);
      known.set(scope, names);
      return names.has(id);
    };
  }

  /** Not found: `user_not_found` or `nas_group_not_found`. */
  numberOf(scope: 'user' | 'group', name: string): number {
    const number = this.#nas.numberOf(scope, name);
    if (number === undefined) throw fail(scope === 'user' ? 'user_not_found' : 'nas_group_not_found', { id: name });
    return number;
  }

  reader(volume: string, scope: QuotaScope): NameReader {
    const fold = (name: string) => (scope === 'project' ? name : name.toLowerCase());
    const names = this.#list(volume, scope);
    const numbers = new Map(names.map(({ name, number }) => [fold(name), number]));
    const known = new Set(names.map(({ number }) => number));
    return {
      read: (text) => {
        const number = numbers.get(fold(text));
        if (number !== undefined) return number;
        if (!/^\d+$/.test(text)) return `there is no ${WORDS[scope]} ${text}`;
        if (text.length > DIGITS_MAX || Number(text) > NUMBER_MAX) return `${text} must be at most ${NUMBER_MAX}`;
        return scope !== 'project' || known.has(Number(text)) ? Number(text) : `there is no quota project ${text}`;
      },
    };
  }

  #list(volume: string, scope: QuotaScope): readonly { readonly name: string; readonly number: number }[] {
    return scope === 'project' ? this.#store.read((db) => listProjectNames(db, volume)) : this.#nas.numbered(scope);
  }
}

const WORDS = { user: 'NAS user', group: 'NAS group', project: 'quota project' } as const;
/** Numbers of users, groups and projects have 32 bits. */
export const NUMBER_MAX = 2 ** 32 - 1;
const DIGITS_MAX = 10;
