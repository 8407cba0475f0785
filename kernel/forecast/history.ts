import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Store } from '../store/index.ts';
import { DAY_MS, type CapacityPoint } from './fit.ts';
import { forecastOf, growthOf, type Filled, type Forecast, type Growth } from './forecast.ts';
import {
  deletePointsBefore,
  deletePointsOf,
  lastPoints,
  listPoints,
  putPoint,
  thinPoints,
  type KeptPoint,
} from './repository.ts';

interface Seen {
  usedBytes: number;
  /** Of the newest point on record. */
  keptAt: number;
  /** When it was last seen as it is on record. */
  seenAt: number;
}

interface Kind {
  readonly seen: Map<string, Seen>;
  readonly growth: Map<string, Growth>;
  recordedAt: number;
  thinnedAt: number;
}

const HOUR_MS = 3_600_000;
const RECORD_EVERY_MS = HOUR_MS;
/** Hourly for two days, four times a day for eight, daily for two months. */
const LEVELS = [
  { olderThan: 2 * DAY_MS, youngerThan: 8 * DAY_MS, step: 6 * HOUR_MS },
  { olderThan: 8 * DAY_MS, youngerThan: 64 * DAY_MS, step: DAY_MS },
] as const;
const KEEP_MS = 64 * DAY_MS;
/** Each may have 130 points: a turn of this many takes some 25 ms. */
const THINGS_PER_TURN = 100;

/**
 * How full things were, by kind: a point an hour, kept for two months and thinned as it grows old. A thing whose use stands
 * still has no points for that time; when it changes, the last moment at which it stood is recorded, too. What is between two
 * points is therefore a straight line. Growth is worked out anew after each point.
 */
export class CapacityHistory {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #kinds = new Map<string, Kind>();

  constructor({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Whether it is time for the next point. */
  isDue(kind: string): boolean {
    const now = this.#clock.now();
    const { recordedAt } = this.#kind(kind);
    return now - recordedAt >= RECORD_EVERY_MS || now < recordedAt;
  }

  /**
   * A point of each thing of a kind whose use is known, if it is time for one; of those that are new at once. What is not among
   * those that exist is gone, and so are its points.
   */
  async record(kind: string, things: readonly Filled[], existing: ReadonlySet<string>): Promise<void> {
    if (!this.isDue(kind)) {
      await this.begin(kind, things);
      return;
    }
    const now = this.#clock.now();
    const known = this.#kind(kind);
    known.recordedAt = now;
    const gone = [...known.seen.keys()].filter((id) => !existing.has(id));
    for (const some of chunksOf(gone)) {
      await this.#store.write((tx) => some.forEach((id) => deletePointsOf(tx, kind, id)));
      for (const id of some) known.seen.delete(id);
    }
    for (const some of chunksOf(things)) {
      await this.#put(kind, known, some, now);
      await this.#thin(kind, known, some, now);
    }
    known.thinnedAt = now;
    known.growth.clear();
  }

  /** First points of what has none. */
  async begin(kind: string, things: readonly Filled[]): Promise<void> {
    const known = this.#kind(kind);
    const fresh = things.filter(({ id }) => !known.seen.has(id));
    for (const some of chunksOf(fresh)) await this.#put(kind, known, some, this.#clock.now());
    for (const { id } of fresh) known.growth.delete(id);
  }

  /** In the order of the things. Where there are thousands, other work has its turn in between. */
  async forecasts<T extends Filled>(kind: string, things: readonly T[]): Promise<(T & Forecast)[]> {
    const now = this.#clock.now();
    const { growth } = this.#kind(kind);
    const found: (T & Forecast)[] = [];
    for (const [index, some] of chunksOf(things).entries()) {
      if (index > 0) await nextTurn();
      const unknown = some.filter(({ id }) => !growth.has(id));
      if (unknown.length > 0) this.#learn(kind, unknown, now);
      for (const thing of some)
        found.push({ ...thing, ...forecastOf(thing, growth.get(thing.id) ?? growthOf([], now), now) });
    }
    return found;
  }

  /** How full one thing was, from the first moment that is on record to the present. */
  points(kind: string, { id, usedBytes }: Pick<Filled, 'id' | 'usedBytes'>): CapacityPoint[] {
    const kept = this.#store.read((db) => listPoints(db, kind, [id]));
    const all = [...kept, ...standing(this.#kind(kind).seen.get(id))];
    return [
      ...all.map((point) => ({ at: point.at, usedBytes: point.usedBytes })),
      { at: this.#clock.now(), usedBytes },
    ];
  }

  /** How full a thing was when that was last known. */
  lastUsedBytes(kind: string, id: string): number | undefined {
    return this.#kind(kind).seen.get(id)?.usedBytes;
  }

  #learn(kind: string, things: readonly Filled[], now: number): void {
    const { growth, seen } = this.#kind(kind);
    const ids = things.map(({ id }) => id);
    const points = Map.groupBy(
      this.#store.read((db) => listPoints(db, kind, ids)),
      ({ id }) => id,
    );
    for (const { id, usedBytes } of things) {
      const kept: CapacityPoint[] = points.get(id) ?? [];
      growth.set(id, growthOf([...kept, ...standing(seen.get(id)), { at: now, usedBytes }], now));
    }
  }

  async #put(kind: string, { seen }: Kind, things: readonly Filled[], now: number): Promise<void> {
    const points = things.flatMap(({ id, usedBytes }): KeptPoint[] => {
      const before = seen.get(id);
      if (before?.usedBytes === usedBytes) return [];
      return [...standing(before).map((point) => ({ id, ...point })), { id, at: now, usedBytes }];
    });
    if (points.length > 0)
      await this.#store.write((tx) => {
        for (const point of points) putPoint(tx, kind, point);
      });
    for (const { id, usedBytes } of things) {
      const before = seen.get(id);
      if (before?.usedBytes === usedBytes) before.seenAt = now;
      else seen.set(id, { usedBytes, keptAt: now, seenAt: now });
    }
  }

  /** After a start all points, then those that have come of age since. */
  async #thin(kind: string, { thinnedAt }: Kind, things: readonly Filled[], now: number): Promise<void> {
    const ids = things.map(({ id }) => id);
    await this.#store.write((tx) => {
      deletePointsBefore(tx, kind, ids, now - KEEP_MS);
      for (const { olderThan, youngerThan, step } of LEVELS) {
        const age = Math.min(youngerThan, olderThan + now - thinnedAt + step);
        thinPoints(tx, kind, ids, { from: now - age, before: now - olderThan, step });
      }
    });
  }

  #kind(kind: string): Kind {
    let known = this.#kinds.get(kind);
    if (!known) {
      const last = this.#store.read((db) => lastPoints(db, kind));
      const seen = last.map(({ id, at, usedBytes }): [string, Seen] => [id, { usedBytes, keptAt: at, seenAt: at }]);
      known = { seen: new Map(seen), growth: new Map(), recordedAt: -Infinity, thinnedAt: -Infinity };
      this.#kinds.set(kind, known);
    }
    return known;
  }
}

/** The end of the time in which it stood still, where that is not on record. */
function standing(seen: Seen | undefined): CapacityPoint[] {
  return seen && seen.seenAt > seen.keptAt ? [{ at: seen.seenAt, usedBytes: seen.usedBytes }] : [];
}

function chunksOf<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / THINGS_PER_TURN) }, (_, index) =>
    all.slice(index * THINGS_PER_TURN, (index + 1) * THINGS_PER_TURN),
  );
}
