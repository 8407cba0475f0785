import { createClient } from '@granary/client';
import { summaryApi, type ArraySummary } from '@granary/contract';
import { CapacityHistory, type ChangeFeed, type Filled, type Forecast } from '@granary/kernel';
import type { ArrayId, UserId } from '../ids.ts';
import type { PortalArray } from '../arrays/array.ts';
import { listAnswering, listPresent, type PresentArray } from '../arrays/repository.ts';
import type { CloudService } from '../clouds/service.ts';
import type { Tools } from '../tools.ts';
import { deleteSummary, listSummaries, putSummary, type KeptSummary } from './repository.ts';

/** An array that fills up. */
export interface FilledArray extends Filled {
  readonly kind: 'array';
  readonly name: string;
}

const ASK_EVERY_MS = 20_000;
const ANSWER_MS_MAX = 5_000;
const AT_ONCE_MAX = 8;
/** A summary that says the same again is put on record this often, for its time. */
const KEEP_EVERY_MS = 600_000;
const KIND = 'array';

/**
 * Asks each array from time to time how full it is and what in it needs attention. What the overview shows is read from here: it
 * costs no request to any array, however many there are, and an array that is away is shown as it was, with the time.
 */
export class ArraySummaries {
  readonly #tools: Tools;
  readonly #clouds: CloudService;
  readonly #changes: ChangeFeed;
  readonly #history: CapacityHistory;
  #known: Map<ArrayId, KeptSummary> | undefined;
  readonly #keptAt = new Map<ArrayId, number>();
  #timer: NodeJS.Timeout | undefined;
  #asking: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(tools: Tools, clouds: CloudService, changes: ChangeFeed) {
    this.#tools = tools;
    this.#clouds = clouds;
    this.#changes = changes;
    this.#history = new CapacityHistory(tools);
  }

  start(): void {
    this.#asking = this.poll().finally(() => this.#schedule());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#asking;
  }

  /** Asks all arrays that should answer. */
  async poll(): Promise<void> {
    const { store, log } = this.#tools;
    try {
      const learnt: KeptSummary[] = [];
      const waiting = store.read(listAnswering);
      const askOneByOne = async () => {
        for (let next = waiting.shift(); next; next = waiting.shift()) {
          const summary = await this.#ask(next);
          if (summary) learnt.push({ arrayId: next.id, learntAt: this.#tools.clock.now(), summary });
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE_MAX }, askOneByOne));
      await this.#keep(learnt);
    } catch (error) {
      log.error({ error }, 'what arrays say of themselves could not be kept');
    }
  }

  /** As they were last learnt, by the array. */
  all(): ReadonlyMap<ArrayId, KeptSummary> {
    this.#known ??= new Map(this.#tools.store.read(listSummaries).map((kept) => [kept.arrayId, kept]));
    return this.#known;
  }

  /** When the arrays of one owner, or all (null), will be full. */
  forecasts(scope: UserId | null): Promise<(FilledArray & Forecast)[]> {
    return this.#history.forecasts(KIND, this.#filled(this.#tools.store.read((db) => listPresent(db, scope))));
  }

  #filled(arrays: readonly PresentArray[]): FilledArray[] {
    const known = this.all();
    return arrays.flatMap(({ id, name }) => {
      const { used_bytes: usedBytes = 0, pooled_bytes: capacityBytes = 0 } = known.get(id)?.summary ?? {};
      return capacityBytes === 0 ? [] : [{ kind: KIND, id: String(id), name, usedBytes, capacityBytes } as const];
    });
  }

  async #ask(array: PortalArray): Promise<ArraySummary | undefined> {
    const { vault, log } = this.#tools;
    try {
      const headers = { 'x-access-key': vault.unseal(array.internalKeySealed) };
      const place = {
        url: array.managementUrl ?? '',
        timeoutMs: ANSWER_MS_MAX,
        fetch: this.#clouds.fetchToArray(array),
      };
      const { summary } = await createClient(summaryApi, { ...place, headers }).summaries.get();
      return summary;
    } catch (error) {
      log.debug({ error, array: array.name }, 'an array did not say how full it is');
      return undefined;
    }
  }

  async #keep(learnt: readonly KeptSummary[]): Promise<void> {
    const { store, clock } = this.#tools;
    const known = this.all() as Map<ArrayId, KeptSummary>;
    const present = store.read((db) => listPresent(db, null));
    const ids = new Set(present.map(({ id }) => id));
    const gone = [...known.keys()].filter((id) => !ids.has(id));
    // Those that were deleted while they were asked are not kept.
    const current = learnt.filter(({ arrayId }) => ids.has(arrayId));
    const changed = current.filter(({ arrayId, summary }) => !isSame(known.get(arrayId)?.summary, summary));
    const due = current.filter(
      (one) => changed.includes(one) || one.learntAt - (this.#keptAt.get(one.arrayId) ?? 0) >= KEEP_EVERY_MS,
    );
    if (gone.length + due.length > 0)
      await store.write((tx) => {
        for (const id of gone) deleteSummary(tx, id);
        for (const one of due) putSummary(tx, one);
      });
    for (const id of gone) {
      known.delete(id);
      this.#keptAt.delete(id);
    }
    for (const one of current) known.set(one.arrayId, one);
    for (const { arrayId } of due) this.#keptAt.set(arrayId, clock.now());
    if (gone.length + changed.length > 0) this.#changes.publish('overview', 'forecasts');
    await this.#history.record(KIND, this.#filled(present), new Set([...ids].map(String)));
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => this.start(), ASK_EVERY_MS).unref();
  }
}

function isSame(one: ArraySummary | undefined, other: ArraySummary): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
