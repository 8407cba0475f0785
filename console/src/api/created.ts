import { useSyncExternalStore } from 'react';
import type { Reply } from './operations.ts';
import { send, type Place } from './send.ts';

/** What the service takes in one request. */
const NAMES_MAX = 100;
/** What makes records another person's without a new name. */
const GROUPS: ReadonlySet<string> = new Set([
  'consistencyGroups',
  'migrationJobs',
  'mirrorJobs',
  'snapshotPolicies',
  'snapshotSets',
  'users',
]);

interface Answer {
  readonly kind: string;
  readonly name: string;
  isOwn: boolean;
  /** It was asked for, and nothing has changed since. */
  isFresh: boolean;
}

export type Created = (kind: string, name: string) => boolean;

/**
 * Which records of an array the person created. The array is asked for those that are shown, many in a request, however
 * many it has: what is not known yet counts as another's.
 */
class CreatedRecords {
  readonly #place: Place;
  readonly #answers = new Map<string, Answer>();
  readonly #due = new Set<Answer>();
  readonly #listeners = new Set<() => void>();
  #has: Created = (kind, name) => this.#lookUp(kind, name);

  constructor(place: Place) {
    this.#place = place;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Another function when answers have changed, so that what depends on it is rendered again. */
  readonly snapshot = (): Created => this.#has;

  /** What is shown is asked for again; until then the answers of before hold. */
  refresh(): void {
    for (const answer of this.#answers.values()) answer.isFresh = false;
    this.#announce();
  }

  #lookUp(kind: string, name: string): boolean {
    const key = `${kind} ${name}`;
    const answer = this.#answers.get(key) ?? { kind, name, isOwn: false, isFresh: false };
    this.#answers.set(key, answer);
    if (!answer.isFresh) this.#ask(answer);
    return answer.isOwn;
  }

  #ask(answer: Answer): void {
    answer.isFresh = true;
    // All that is looked up while a page is rendered goes into the same requests.
    if (this.#due.size === 0) setTimeout(() => void this.#askDue());
    this.#due.add(answer);
  }

  async #askDue(): Promise<void> {
    const byKind = Map.groupBy(this.#due, ({ kind }) => kind);
    this.#due.clear();
    const parts = [...byKind.values()].flatMap(partsOf);
    const changes = await Promise.all(parts.map((part) => this.#askPart(part)));
    if (changes.some(Boolean)) this.#announce();
  }

  /** Whether an answer is another than before. What could not be asked is asked when it is looked up again. */
  async #askPart(part: readonly Answer[]): Promise<boolean> {
    const { array } = await import('./array.ts');
    const input = { kind: part[0]?.kind, names: part.map(({ name }) => name) };
    try {
      const { value } = await send(array.creators.find, this.#place, input);
      const own = new Set((value as Reply<typeof array.creators.find.endpoint>).names);
      const changed = part.filter(({ name, isOwn }) => own.has(name) !== isOwn);
      for (const answer of changed) answer.isOwn = own.has(answer.name);
      return changed.length > 0;
    } catch {
      for (const answer of part) answer.isFresh = false;
      return false;
    }
  }

  #announce(): void {
    this.#has = (kind, name) => this.#lookUp(kind, name);
    for (const listener of this.#listeners) listener();
  }
}

function partsOf(all: readonly Answer[]): (readonly Answer[])[] {
  const count = Math.ceil(all.length / NAMES_MAX);
  return Array.from({ length: count }, (_, at) => all.slice(at * NAMES_MAX, (at + 1) * NAMES_MAX));
}

const byPlace = new Map<string, CreatedRecords>();
const nowhere = new CreatedRecords({ base: '' });

function recordsAt(place: Place | undefined): CreatedRecords {
  if (!place) return nowhere;
  const found = byPlace.get(place.base) ?? new CreatedRecords(place);
  byPlace.set(place.base, found);
  return found;
}

/** Whether the person created a record of the array that is reached from here; the page follows the answers. */
export function useCreated(place: Place | undefined): Created {
  const { subscribe, snapshot } = recordsAt(place);
  return useSyncExternalStore(subscribe, snapshot);
}

/** The change feed names these groups; without any, everything may have changed. */
export function refreshCreated({ base }: Place, groups?: readonly string[]): void {
  if (!groups || groups.some((group) => GROUPS.has(group))) byPlace.get(base)?.refresh();
}

/** Nothing is kept for the next person at this browser. */
export function forgetCreated(): void {
  byPlace.clear();
}
