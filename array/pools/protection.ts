import { capacityText, fail, type Tx } from '@granary/kernel';
import type { PoolReport } from '../engine/report.ts';
import type { ArrayTools } from '../tools.ts';
import { called } from '../wording.ts';
import { HISTORY_STEPS, watchWithHistory } from './history.ts';
import {
  effectiveThresholds,
  freeBytesOf,
  isWorse,
  evaluateCapacity,
  plainThresholds,
  type CapacityState,
  type Watches,
} from './capacity-state.ts';
import { deleteSamplesBefore, findPool, insertSample, listPools, listSamples, updatePool } from './repository.ts';
import type { Pool, PoolSample } from './pool.ts';

/** Makes room in a pool, a little; false when there is nothing to give up. */
type MakeRoom = (pool: string) => Promise<boolean>;

interface Watched extends Watches {
  /** What it was made for: other thresholds, another watch. */
  readonly thresholds: string;
  sampledAt: number;
  /** Since when it would be in a better mode than it is. */
  betterSince: number | undefined;
  usedBytes: number;
  nextReliefAt: number;
  relief: Promise<void> | undefined;
}

/** How long it must be better: a pool at a threshold would otherwise go back and forth. */
const BETTER_FOR_MS = 10_000;
/** What a deleted snapshot held comes back by and by. */
const RELIEF_EVERY_MS = 3_000;
const RELIEF_IN_VAIN_MS = 60_000;
const SAMPLE_EVERY_MS_MIN = 60_000;
const MINUTE_MS = 60_000;

/** Watches how pools fill, says so, refuses what would fill them sooner, and gives up snapshots in an emergency. */
export class PoolProtection {
  readonly #tools: ArrayTools;
  readonly #watched = new Map<string, Watched>();
  #makeRoom: MakeRoom | undefined;

  constructor(tools: ArrayTools) {
    this.#tools = tools;
    tools.readings.onReading(() => this.checkAll());
  }

  onEmergency(makeRoom: MakeRoom): void {
    this.#makeRoom = makeRoom;
  }

  /** At all pools, after each reading. */
  async checkAll(): Promise<void> {
    const { store } = this.#tools;
    const pools = store.read((db) => listPools(db)).filter(({ state }) => state === 'ready');
    const names = new Set<string>(pools.map(({ name }) => name));
    for (const name of this.#watched.keys()) if (!names.has(name)) this.#watched.delete(name);
    for (const pool of pools) await this.#check(pool, false);
  }

  /** After a change of the pool: its mode follows at once. */
  async checkNow(name: string): Promise<void> {
    const pool = this.#tools.store.read((db) => findPool(db, name));
    if (pool?.state === 'ready') await this.#check(pool, true);
  }

  /** Throws `pool_protected` or, when there is no room at all, `capacity_refused`. */
  refuseNew(pool: Pool): void {
    const { name, capacityMode: mode } = pool;
    const report = this.#tools.readings.pool(name);
    if (report?.isOpen === true && freeBytesOf(pool, report) === 0) {
      throw fail('pool_full', { id: called(pool) });
    }
    if (mode !== 'protected' && mode !== 'emergency') return;
    const watched = this.#watched.get(name);
    const reason = report && watched ? reasonOf(evaluateCapacity(pool, report, watched)) : 'it is filling up';
    throw fail('pool_protected', { id: name, mode, reason });
  }

  /** As of the last reading; undefined before the first. */
  stateOf(pool: Pool): CapacityState | undefined {
    const report = this.#tools.readings.pool(pool.name);
    const watched = this.#watched.get(pool.name);
    return report?.isOpen === true && watched ? evaluateCapacity(pool, report, watched) : undefined;
  }

  /** Resolves when no snapshot is being given up. */
  async stop(): Promise<void> {
    this.#makeRoom = undefined;
    for (const { relief } of this.#watched.values()) await relief;
  }

  async #check(pool: Pool, atOnce: boolean): Promise<void> {
    const report = this.#tools.readings.pool(pool.name);
    if (report?.isOpen !== true) return;
    const now = this.#tools.clock.now();
    const watched = this.#watch(pool, report, now);
    watched.plain.record(now, report.usedBytes);
    watched.effective.record(now, report.usedBytes + report.savedBytes);
    const state = evaluateCapacity(pool, report, watched);
    const changes = this.#isDue(pool, state, watched, { now, atOnce });
    const samples = now - watched.sampledAt >= sampleEveryMs(pool) || now < watched.sampledAt;
    if (changes || samples) {
      await this.#tools.store.write((tx) => {
        if (samples) this.#insertSample(tx, pool, report, now);
        if (changes) this.#change(tx, pool, state);
      });
      if (samples) watched.sampledAt = now;
    }
    this.#relieve(pool, report, state, watched, now);
  }

  #watch(pool: Pool, report: PoolReport, now: number): Watched {
    const thresholds = JSON.stringify([plainThresholds(pool), effectiveThresholds(pool)]);
    const before = this.#watched.get(pool.name);
    if (before?.thresholds === thresholds) return before;
    const { usedBytes, savedBytes } = report;
    const samples = this.#tools.store.read((db) => listSamples(db, pool.name));
    const sampledAt = samples.at(-1)?.takenAt ?? -Infinity;
    const plain = watchWithHistory(plainThresholds(pool), samples.map(asUsed), { atMs: now, usedBytes });
    const effective = watchWithHistory(effectiveThresholds(pool), samples.map(asEffective), {
      atMs: now,
      usedBytes: usedBytes + savedBytes,
    });
    const watched: Watched = {
      thresholds,
      plain,
      effective,
      sampledAt,
      betterSince: before?.betterSince,
      usedBytes: before?.usedBytes ?? usedBytes,
      nextReliefAt: before?.nextReliefAt ?? 0,
      relief: before?.relief,
    };
    this.#watched.set(pool.name, watched);
    return watched;
  }

  /** Worse is worse at once; better only when it stays so. */
  #isDue(
    pool: Pool,
    { mode }: CapacityState,
    watched: Watched,
    { now, atOnce }: { now: number; atOnce: boolean },
  ): boolean {
    if (!isWorse(pool.capacityMode, mode)) watched.betterSince = undefined;
    if (mode === pool.capacityMode) return false;
    if (atOnce || isWorse(mode, pool.capacityMode)) return true;
    watched.betterSince ??= now;
    return now - watched.betterSince >= BETTER_FOR_MS;
  }

  #change(tx: Tx, { name }: Pool, state: CapacityState): void {
    const pool = findPool(tx, name);
    if (pool?.state !== 'ready') return;
    updatePool(tx, name, { capacityMode: state.mode });
    const { title, severity } = modeEvent(pool, state);
    this.#tools.events.record(tx, { title, severity, subject: `pool:${name}` });
  }

  #insertSample(tx: Tx, pool: Pool, { usedBytes, savedBytes }: PoolReport, now: number): void {
    if (!findPool(tx, pool.name)) return;
    deleteSamplesBefore(tx, pool.name, now - longestHistoryMs(pool));
    insertSample(tx, pool.name, { takenAt: now, usedBytes, savedBytes });
  }

  /** One by one, in the background: readings go on meanwhile and show whether it helped. */
  #relieve(pool: Pool, report: PoolReport, { isBelowLeast }: CapacityState, watched: Watched, now: number): void {
    const isFalling = report.usedBytes < watched.usedBytes;
    watched.usedBytes = report.usedBytes;
    const makeRoom = this.#makeRoom;
    if (!isBelowLeast || isFalling || watched.relief || now < watched.nextReliefAt || !makeRoom) return;
    const { clock, log } = this.#tools;
    const relieve = async (): Promise<void> => {
      let helped = false;
      try {
        helped = await makeRoom(pool.name);
      } catch (error) {
        log.error({ error, pool: pool.name }, 'a pool in an emergency could not be given room');
      }
      const current = this.#watched.get(pool.name) ?? watched;
      current.nextReliefAt = clock.now() + (helped ? RELIEF_EVERY_MS : RELIEF_IN_VAIN_MS);
      current.relief = undefined;
    };
    watched.relief = relieve();
  }
}

function modeEvent(pool: Pool, state: CapacityState): { title: string; severity: 'notice' | 'warning' | 'error' } {
  const named = `Pool ${called(pool)}`;
  const reason = reasonOf(state);
  switch (state.mode) {
    case 'normal':
      return { title: `${named} has enough room again.`, severity: 'notice' };
    case 'alert':
      return { title: `${named} is running full: ${reason}.`, severity: 'warning' };
    case 'protected':
      return { title: `${named} is protected, nothing new can be made in it: ${reason}.`, severity: 'warning' };
    case 'emergency': {
      const follows = state.isBelowLeast ? '; its oldest snapshots are given up' : '';
      return { title: `${named} is in an emergency: ${reason}${follows}.`, severity: 'error' };
    }
  }
}

function reasonOf({ mode, freeBytes, minutesLeft }: CapacityState): string {
  if (mode === 'emergency' || minutesLeft === Infinity) return `${capacityText(freeBytes)} are left`;
  return `it will be full in about ${Math.ceil(minutesLeft)} minutes`;
}

function asUsed({ takenAt, usedBytes }: PoolSample) {
  return { atMs: takenAt, usedBytes };
}

function asEffective({ takenAt, usedBytes, savedBytes }: PoolSample) {
  return { atMs: takenAt, usedBytes: usedBytes + savedBytes };
}

function longestHistoryMs({ historyMinutes, effectiveHistoryMinutes }: Pool): number {
  return Math.max(historyMinutes, effectiveHistoryMinutes) * MINUTE_MS;
}

function sampleEveryMs(pool: Pool): number {
  return Math.max(SAMPLE_EVERY_MS_MIN, longestHistoryMs(pool) / HISTORY_STEPS);
}
