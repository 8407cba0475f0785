import { ChangeDetector, type ChangeFeed, type Log } from '@granary/kernel';
import type { ObjectEngine } from '../engine/engine.ts';

const WATCH_MS = 1_000;
const PARTS = 1_000;

interface WatchParts {
  readonly engine: ObjectEngine;
  readonly feed: ChangeFeed;
  readonly log: Log;
  readonly watchMs?: number;
}

/** Tells those who follow what the engine changes by itself: health, moving data, drives, controllers. */
export class EngineWatch {
  readonly #parts: WatchParts;
  readonly #detector: ChangeDetector;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: WatchParts) {
    this.#parts = parts;
    this.#detector = new ChangeDetector(parts.feed);
  }

  start(): void {
    const { engine, log, watchMs = WATCH_MS } = this.#parts;
    this.#timer = setInterval(() => {
      try {
        this.#detector.compare(() => shownOf(engine));
      } catch (error) {
        log.warn({ error }, 'the engine could not be read');
      }
    }, watchMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** What lists show that changes without a request. */
function shownOf(engine: ObjectEngine) {
  const { policies } = engine.report();
  return {
    policies: policies.map(({ policy, isUsable, health, usedBytes, capacity, placement }) => [
      policy.index,
      isUsable,
      health,
      capacity,
      partsOf(usedBytes, capacity),
      placement?.rebalance,
      placement?.partitions,
    ]),
    drives: engine.drives
      ?.list()
      .map(({ number, state, usedBytes, capacity, degraded, critical }) => [
        number,
        state,
        partsOf(usedBytes, capacity),
        degraded,
        critical,
      ]),
    virtualControllers: engine.controllers?.list(),
  };
}

function partsOf(used: number, total: number): number {
  return total === 0 ? 0 : Math.floor((used / total) * PARTS);
}
