import type { ForecastRecord } from '@granary/contract';
import {
  CapacityHistory,
  compareForecasts,
  forecastView,
  pageOf,
  usedAsRecorded,
  WHOLE,
  type Filled,
  type Forecast,
  type Page,
} from '@granary/kernel';
import type { VolumeReport } from '../engine/report.ts';
import { listPools } from '../pools/repository.ts';
import type { ArrayTools } from '../tools.ts';
import { listVolumeRooms } from '../volumes/repository.ts';

const KINDS = ['pool', 'volume'] as const;
type Kind = (typeof KINDS)[number];

interface Thing extends Filled {
  readonly kind: Kind;
  readonly name: string;
}

interface Survey {
  /** Those whose use is known. */
  readonly things: readonly Thing[];
  /** Of all there are. */
  readonly names: ReadonlySet<string>;
}

/** When pools and volumes will be full, from what is kept of their use. */
export class ForecastService {
  readonly #tools: Pick<ArrayTools, 'store' | 'clock' | 'readings'>;
  readonly #history: CapacityHistory;

  constructor(tools: Pick<ArrayTools, 'store' | 'clock' | 'readings'>) {
    this.#tools = tools;
    this.#history = new CapacityHistory(tools);
    tools.readings.onReading(() => this.record());
  }

  /** At each reading; a point is kept when an hour has passed. */
  async record(): Promise<void> {
    for (const kind of KINDS) {
      if (!this.#history.isDue(kind)) continue;
      const { things, names } = this.#survey(kind);
      await this.#history.record(kind, things, names);
    }
  }

  /** What fills up first comes first. */
  async list(kind: Kind | undefined, page: Page): Promise<{ forecasts: ForecastRecord[]; count: number }> {
    const all = (await Promise.all((kind ? [kind] : KINDS).map((one) => this.of(one)))).flat();
    all.sort(compareForecasts);
    const now = this.#tools.clock.now();
    return { forecasts: pageOf(all, page).map((one) => forecastView(one, now)), count: all.length };
  }

  of(kind: Kind): Promise<(Thing & Forecast)[]> {
    return this.#history.forecasts(kind, this.#survey(kind).things);
  }

  /** What a pool that is not open held when it last was. */
  lastUsedBytes(pool: string): number {
    return this.#history.lastUsedBytes('pool', pool) ?? 0;
  }

  #survey(kind: Kind): Survey {
    return kind === 'pool' ? this.#pools() : this.#volumes();
  }

  #pools(): Survey {
    const { store, readings } = this.#tools;
    const pools = store.read((db) => listPools(db, WHOLE));
    const things = pools.flatMap(({ name, displayName, capacityBytes, state }): Thing[] => {
      const report = readings.pool(name);
      if (state !== 'ready' || report?.isOpen !== true) return [];
      // While it shrinks the engine allows less already.
      const capacity = Math.min(capacityBytes, report.totalBytes);
      return [
        {
          kind: 'pool',
          id: name,
          name: displayName,
          usedBytes: usedAsRecorded(report.usedBytes),
          capacityBytes: capacity,
        },
      ];
    });
    return { things, names: namesOf(pools) };
  }

  #volumes(): Survey {
    const { store, readings } = this.#tools;
    const rooms = store.read(listVolumeRooms);
    const things = rooms.flatMap(({ name, displayName, sizeBytes, expandsTo }): Thing[] => {
      const report = readings.volume(name);
      const room = report && roomOf(report, sizeBytes);
      if (!room) return [];
      const capacityBytes = Math.max(room.capacityBytes, expandsTo ?? 0);
      return [
        { kind: 'volume', id: name, name: displayName, usedBytes: usedAsRecorded(room.usedBytes), capacityBytes },
      ];
    });
    return { things, names: namesOf(rooms) };
  }
}

function namesOf(all: readonly { readonly name: string }[]): ReadonlySet<string> {
  return new Set(all.map(({ name }) => name));
}

/** A share knows what its files take. What a block volume shows as taken holds its snapshots, too, and is never above its size. */
function roomOf({ share, ownBytes, snapshotBytes, sharedBytes }: VolumeReport, sizeBytes: number) {
  if (share) return { usedBytes: share.totalBytes - share.availableBytes, capacityBytes: share.totalBytes };
  return { usedBytes: Math.min(sizeBytes, ownBytes + snapshotBytes + sharedBytes), capacityBytes: sizeBytes };
}
