import type { ControllerReport, IoTotals } from '../engine/report.ts';
import type { Readings } from '../readings/readings.ts';
import { COLUMNS } from './buckets.ts';
import { IoCounters } from './counters.ts';
import type { PerformanceHistory } from './history.ts';
import { MachineTimes } from './machine.ts';
import { CacheUse } from './cache-use.ts';
import { sumsOfCache, sumsOfController, sumsOfLookups, sumsOfMetadata } from './points.ts';

export type MeasuredKind = 'drive' | 'raid_group' | 'pool' | 'volume' | 'server';

/** What only this folder knows of: a controller, what servers move through it, and its cache. */
export type InnerKind = 'controller' | 'controller_io' | 'cache' | 'cache_metadata' | 'cache_lookups';

/** A reading that took longer than this is counted as if it had not. */
const STRETCH_MAX_S = 100;

interface Named {
  readonly id: string;
  readonly io: IoTotals;
}

/** Writes each reading into the history. */
export class PerformanceRecorder {
  readonly #history: PerformanceHistory;
  readonly #counters = new IoCounters();
  readonly #processorTimes = new Map<string, Pick<ControllerReport, 'cpuUserMicroseconds' | 'cpuSystemMicroseconds'>>();
  readonly #machine = new MachineTimes();
  readonly #cacheUse = new CacheUse();
  /** Seconds since 1970. */
  #lastAt: number | undefined;

  constructor(history: PerformanceHistory) {
    this.#history = history;
  }

  get lastAt(): number | undefined {
    return this.#lastAt;
  }

  remove(kind: MeasuredKind, id: string, now: number): void {
    this.#counters.remove(`${kind} ${id}`, now);
    this.#history.remove(kind, id);
  }

  record(readings: Readings, now: number): void {
    const from = Math.max(this.#lastAt ?? now - 1, now - STRETCH_MAX_S);
    // The clock was set back: what happened meanwhile is counted with the next reading.
    if (from >= now) {
      this.#lastAt = now;
      return;
    }
    this.#recordAll('drive', readings.drives, from, now);
    this.#recordAll('raid_group', readings.groups, from, now);
    this.#recordAll('pool', readings.pools, from, now);
    this.#recordAll('server', readings.servers, from, now);
    const moved = this.#recordAll('volume', readings.volumes, from, now);
    this.#recordControllers(readings, moved, from, now);
    this.#counters.dropExpired(now);
    this.#lastAt = now;
  }

  /** What happened to all of them together. */
  #recordAll(kind: MeasuredKind, things: Iterable<Named>, from: number, to: number): Float64Array {
    const all = new Float64Array(COLUMNS);
    for (const { id, io } of things) {
      const sums = this.#counters.since(`${kind} ${id}`, io);
      if (sums === undefined) continue;
      this.#history.add(kind, id, sums, from, to);
      for (const [column, sum] of sums.entries()) all[column] = (all[column] ?? 0) + sum;
    }
    return all;
  }

  #recordControllers(readings: Readings, moved: Float64Array, from: number, to: number): void {
    const { waiting: waitingShare, idle: idleShare } = this.#machine.read();
    for (const controller of readings.controllers) {
      const { name, state } = controller;
      if (state === 'failed') continue;
      // The cache is set aside whole, but takes memory only as it fills.
      const unfilled = state === 'active' ? unfilledCacheBytes(readings) : 0;
      const memoryBytes = Math.max(0, controller.memoryBytes - unfilled);
      const measured = { ...this.#processorTime(controller), waitingShare, idleShare, memoryBytes };
      this.#history.add('controller', name, sumsOfController(measured, to - from), from, to);
      if (state !== 'active') continue;
      if (moved.some((sum) => sum > 0)) this.#history.add('controller_io', name, moved, from, to);
      const { data, metadata, lookups } = this.#cacheUse.since(readings);
      this.#history.add('cache', name, sumsOfCache(data, to - from), from, to);
      this.#history.add('cache_metadata', name, sumsOfMetadata(metadata, to - from), from, to);
      this.#history.add('cache_lookups', name, sumsOfLookups(lookups), from, to);
    }
  }

  #processorTime(report: ControllerReport): { userMicroseconds: number; systemMicroseconds: number } {
    const { name, cpuUserMicroseconds: user, cpuSystemMicroseconds: system } = report;
    const last = this.#processorTimes.get(name);
    this.#processorTimes.set(name, report);
    const beganAnew = last === undefined || user < last.cpuUserMicroseconds || system < last.cpuSystemMicroseconds;
    // What it used before it was first seen is not of this second.
    if (last === undefined) return { userMicroseconds: 0, systemMicroseconds: 0 };
    return {
      userMicroseconds: beganAnew ? user : user - last.cpuUserMicroseconds,
      systemMicroseconds: beganAnew ? system : system - last.cpuSystemMicroseconds,
    };
  }
}

function unfilledCacheBytes({ pools }: Readings): number {
  let bytes = 0;
  for (const { cache } of pools) bytes += cache.capacityBytes - cache.usedBytes;
  return bytes;
}
