export interface CheckProblem {
  readonly kind: 'drive' | 'piece' | 'unreadable' | 'unmarked' | 'index' | 'content' | 'segment';
  readonly what: string;
}

const MOST_LISTED = 1000;

/** Gathers what was found; beyond a thousand they are only counted. */
export class Problems {
  readonly list: CheckProblem[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(kind: CheckProblem['kind'], what: string): void {
    this.#count += 1;
    if (this.list.length < MOST_LISTED) this.list.push({ kind, what });
  }
}
