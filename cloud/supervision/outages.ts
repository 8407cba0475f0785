/** A time in which an array was wanted and did not serve. */
export interface Outage {
  readonly id: string;
  /** Undefined: it began before this cloud came up. */
  readonly beganAt: number | undefined;
  /** Undefined: it goes on. */
  readonly endedAt: number | undefined;
}

/** As many as can end between two looks of the portal, and some more. */
const KEPT_MAX = 16;

/** The last outages of one array: the portal bills nothing for an engine that did not run. */
export class Outages {
  readonly #prefix: string;
  #list: Outage[] = [];
  #last = 0;

  /** `prefix` tells the outages of this run of the cloud from those of others. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  get list(): readonly Outage[] {
    return this.#list;
  }

  begin(beganAt: number | undefined): void {
    if (this.#open) return;
    const outage = { id: `${this.#prefix}-${++this.#last}`, beganAt, endedAt: undefined };
    this.#list = [...this.#list, outage].slice(-KEPT_MAX);
  }

  end(endedAt: number): void {
    const open = this.#open;
    if (open) this.#list = this.#list.map((outage) => (outage === open ? { ...outage, endedAt } : outage));
  }

  /** It is no longer wanted: from here on its not serving is no outage, and the past ones are dropped. */
  clear(): void {
    this.#list = [];
  }

  get #open(): Outage | undefined {
    return this.#list.find(({ endedAt }) => endedAt === undefined);
  }
}
