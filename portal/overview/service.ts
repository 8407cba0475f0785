import type { RecordOf } from '@granary/contract';
import { countedStates, type Overview } from '@granary/contract/portal';
import { compareForecasts, forecastView, formatUtc, WHOLE, type WebhookService } from '@granary/kernel';
import { countAllAccounts } from '../accounts/repository.ts';
import { isAdmin, scopeOf, type PortalActor } from '../actor.ts';
import { countedStateOf } from '../arrays/array.ts';
import { listPresent, type PresentArray } from '../arrays/repository.ts';
import type { ArrayWatcher } from '../arrays/watcher.ts';
import { listClouds } from '../clouds/repository.ts';
import { countRequests } from '../requests/repository.ts';
import type { ArraySummaries } from '../summaries/service.ts';
import type { Tools } from '../tools.ts';
import { arrayAttention, cloudAttention, isSilent, webhookAttention, type Attention } from './attention.ts';
import { SpendByScope } from './spend.ts';

type OverviewView = RecordOf<typeof Overview>;

interface Parts {
  readonly summaries: ArraySummaries;
  readonly webhooks: WebhookService;
  readonly watcher: Pick<ArrayWatcher, 'silentSince'>;
}

const ATTENTION_MAX = 50;
const FILLING_MAX = 5;
const EVENTS_MAX = 8;

/** How everything a person may see is doing, in one answer: nothing in it is asked of a cloud or an array. */
export class OverviewService {
  readonly #tools: Tools;
  readonly #parts: Parts;
  readonly #spend: SpendByScope;

  constructor(tools: Tools, parts: Parts) {
    this.#tools = tools;
    this.#parts = parts;
    this.#spend = new SpendByScope(tools);
  }

  async get(actor: PortalActor): Promise<OverviewView> {
    const { store, clock } = this.#tools;
    const scope = scopeOf(actor);
    const now = clock.now();
    const arrays = store.read((db) => listPresent(db, scope));
    const attention = this.#attention(actor, arrays, now);
    const filling = (await this.#parts.summaries.forecasts(scope)).sort(compareForecasts).slice(0, FILLING_MAX);
    const { month, lastMonth, hour } = await this.#spend.of(scope);
    return {
      health: attention[0]?.severity ?? 'ok',
      capacity: this.#capacity(arrays, now),
      arrays: arrays.length,
      arrays_by_state: byState(arrays),
      accounts: store.read((db) => countAllAccounts(db, scope)),
      spend: [{ currency: 'USD', month, last_month: lastMonth, hour }],
      requests_waiting: store.read((db) => countRequests(db, { scope, status: 'pending' })),
      attention: attention.slice(0, ATTENTION_MAX),
      attention_count: attention.length,
      filling: filling.map((forecast) => forecastView(forecast, now)),
      events: isAdmin(actor) ? this.#events() : null,
    };
  }

  #capacity(arrays: readonly PresentArray[], now: number): OverviewView['capacity'] {
    const kept = this.#parts.summaries.all();
    const known = arrays.flatMap(({ id }) => kept.get(id) ?? []);
    const sum = (figure: 'raw_bytes' | 'usable_bytes' | 'pooled_bytes' | 'used_bytes') =>
      known.reduce((total, { summary }) => total + summary[figure], 0);
    const oldest = known.reduce((least, { learntAt }) => Math.min(least, learntAt), Infinity);
    return {
      raw_bytes: sum('raw_bytes'),
      usable_bytes: sum('usable_bytes'),
      pooled_bytes: sum('pooled_bytes'),
      used_bytes: sum('used_bytes'),
      arrays: known.length,
      silent_arrays: arrays.filter((array) => isSilent(array, kept.get(array.id), now)).length,
      learnt_at: oldest === Infinity ? null : formatUtc(oldest),
    };
  }

  /** Errors first. */
  #attention(actor: PortalActor, arrays: readonly PresentArray[], now: number): Attention[] {
    const kept = this.#parts.summaries.all();
    const all = [
      ...(isAdmin(actor) ? this.#ofOperator(now) : []),
      ...arrays.flatMap((array) => arrayAttention(array, kept.get(array.id), now)),
    ];
    return [
      ...all.filter(({ severity }) => severity === 'error'),
      ...all.filter(({ severity }) => severity === 'warning'),
    ];
  }

  #ofOperator(now: number): Attention[] {
    const { watcher, webhooks } = this.#parts;
    const clouds = this.#tools.store.read((db) => listClouds(db, false, WHOLE));
    return [
      ...clouds.flatMap((cloud) => cloudAttention(cloud, watcher.silentSince(cloud.id), now)),
      ...webhooks.list(WHOLE).webhooks.flatMap(webhookAttention),
    ];
  }

  #events() {
    const { store, events } = this.#tools;
    return store.read((db) => events.list(db, { start: 0, limit: EVENTS_MAX })).messages;
  }
}

/** States without arrays are left out. */
function byState(arrays: readonly PresentArray[]): OverviewView['arrays_by_state'] {
  const states = arrays.map(countedStateOf);
  return countedStates.flatMap((state) => {
    const count = states.filter((each) => each === state).length;
    return count === 0 ? [] : [{ state, count }];
  });
}
