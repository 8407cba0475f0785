import { CapacityWatch, type CapacityMode, type CapacityThresholds } from '@granary/storage/capacity';
import { bytes, capacityText, type Bytes, type Tx } from '@granary/kernel';
import type { VolumeReport } from '../engine/report.ts';
import type { ArrayTools } from '../tools.ts';
import { VolumeLoad, type Crossing } from './load.ts';
import { findVolume, listWatched, updateVolume } from './repository.ts';
import type { Volume } from './volume.ts';
import { titleOf } from './rules.ts';

interface Watched {
  readonly load: VolumeLoad;
  readonly capacity: CapacityWatch;
  /** What the volume showed when somebody counted. */
  shown: Shown | undefined;
  /** Why it could not expand, told already. */
  problem: string | undefined;
}

interface Shown {
  readonly bytes: number;
  /** The figures it had then: as long as they are the same, nothing was written since. */
  readonly of: string;
  readonly atMs: number;
  readonly tookMs: number;
}

interface Capacity {
  readonly mode: CapacityMode;
  readonly freeBytes: number;
}

interface ModeChange extends Capacity {
  readonly row: Volume;
}

const CHECK_EVERY_MS = 5_000;
/** Where nobody said when to expand: as a tenth of it is left. */
const EMERGENCY_FRACTION = 0.1;
/** Counting takes no more than a hundredth of the time. */
const WAIT_FACTOR = 100;

/** Looks after volumes that have limits: raises alerts, and expands those that may. */
export class VolumeWatch {
  readonly #tools: ArrayTools;
  readonly #expand: (name: string, sizeBytes: Bytes) => Promise<void>;
  #watched = new Map<string, Watched>();
  #checkedAt = 0;

  constructor(tools: ArrayTools, expand: (name: string, sizeBytes: Bytes) => Promise<void>) {
    this.#tools = tools;
    this.#expand = expand;
  }

  start(): void {
    this.#tools.readings.onReading((_readings, atMs) => {
      if (atMs - this.#checkedAt < CHECK_EVERY_MS) return;
      this.#checkedAt = atMs;
      return this.check(atMs);
    });
  }

  async check(atMs: number): Promise<void> {
    const { store, readings } = this.#tools;
    const rows = store.read(listWatched);
    const before = this.#watched;
    this.#watched = new Map(rows.map((row) => [row.name, before.get(row.name) ?? newWatched()]));
    for (const row of rows) {
      const report = readings.volume(row.name);
      const watched = this.#watched.get(row.name);
      if (report && watched) await this.#check(row, report, watched, atMs);
    }
  }

  async #check(row: Volume, report: VolumeReport, watched: Watched, atMs: number): Promise<void> {
    const crossings = watched.load.record(row, report.io, atMs);
    const { mode, freeBytes } = await this.#capacityOf(row, report, watched, atMs);
    if (crossings.length > 0 || mode !== row.capacityMode)
      await this.#recordEvents(crossings, { row, mode, freeBytes });
    if (mode === 'emergency' && row.expandsItself) await this.#relieve(row, watched);
    else watched.problem = undefined;
  }

  async #capacityOf(row: Volume, report: VolumeReport, watched: Watched, atMs: number): Promise<Capacity> {
    if (!isProtected(row)) return { mode: 'normal', freeBytes: row.sizeBytes };
    // Nobody writes to a share that is not mounted, and only its filesystem knows how full it is.
    if (row.kind === 'file' && !report.share) return { mode: row.capacityMode, freeBytes: 0 };
    const freeBytes = await this.#freeBytes(row, report, watched);
    const takenBytes = row.sizeBytes - freeBytes;
    watched.capacity.setThresholds(thresholdsOf(row));
    watched.capacity.record(atMs, takenBytes);
    return { mode: watched.capacity.mode(freeBytes), freeBytes };
  }

  async #freeBytes(row: Volume, report: VolumeReport, watched: Watched): Promise<number> {
    if (report.share) return report.share.availableBytes;
    return Math.max(0, row.sizeBytes - (await this.#usedBytes(report, watched)));
  }

  /**
   * What was written and is not given back. Where several layers hold it, the same place may lie in many of them: then it
   * is counted, which takes a while for large volumes, so never for more than a hundredth of the time.
   */
  async #usedBytes(report: VolumeReport, watched: Watched): Promise<number> {
    const { id, sizeBytes, ownBytes, snapshotBytes, sharedBytes, io } = report;
    if (snapshotBytes + sharedBytes === 0) return ownBytes;
    const { shown } = watched;
    const of = `${ownBytes} ${snapshotBytes} ${sharedBytes} ${io.writes.count}`;
    const startMs = performance.now();
    if (shown && (shown.of === of || startMs - shown.atMs < shown.tookMs * WAIT_FACTOR)) return shown.bytes;
    try {
      const bytes = await this.#tools.engine.shownBytes(id);
      const atMs = performance.now();
      watched.shown = { bytes, of, atMs, tookMs: atMs - startMs };
      return bytes;
    } catch {
      // Its pool may be away: it is as full as it was, or as it can be at most.
      return shown?.bytes ?? Math.min(sizeBytes, ownBytes + snapshotBytes + sharedBytes);
    }
  }

  async #recordEvents(crossings: readonly Crossing[], change: ModeChange): Promise<void> {
    const { store, events } = this.#tools;
    const { row, mode } = change;
    await store.write((tx) => {
      for (const crossing of crossings) {
        const severity = crossing.isAbove ? 'warning' : 'notice';
        events.record(tx, { severity, title: crossingTitle(row, crossing), subject: `volume:${row.name}` });
      }
      if (mode !== row.capacityMode) this.#changeMode(tx, change);
    });
  }

  #changeMode(tx: Tx, { row, mode, freeBytes }: ModeChange): void {
    if (findVolume(tx, row.name)?.state !== 'ready') return;
    updateVolume(tx, row.name, { capacityMode: mode });
    const left = `${capacityText(freeBytes)} of ${capacityText(row.sizeBytes)} are left`;
    const told = {
      normal: { severity: 'notice', title: `${titleOf(row)} has room again: ${left}.` },
      alert: {
        severity: 'warning',
        title: `${titleOf(row)} will be full within ${row.alertMinutes} minutes: ${left}.`,
      },
      protected: { severity: 'warning', title: `${titleOf(row)} is filling up: ${left}.` },
      emergency: { severity: 'error', title: `${titleOf(row)} runs full: ${left}.` },
    } as const;
    this.#tools.events.record(tx, { ...told[mode], subject: `volume:${row.name}` });
  }

  /** By one step a time; the next look tells whether that was enough. */
  async #relieve(row: Volume, watched: Watched): Promise<void> {
    if (row.mirrorJob !== null) return this.#cannot(row, watched, 'it is as large as the volume it mirrors');
    const most = row.maxBytes ?? Infinity;
    const size = bytes(Math.min(row.sizeBytes + (row.expandByBytes ?? 0), most));
    if (size <= row.sizeBytes) return this.#cannot(row, watched, 'it is as large as it may become');
    try {
      await this.#expand(row.name, size);
      watched.problem = undefined;
    } catch (error) {
      await this.#cannot(row, watched, error instanceof Error ? error.message : String(error));
    }
  }

  /** Told once, not at every look. */
  async #cannot(row: Volume, watched: Watched, problem: string): Promise<void> {
    if (watched.problem === problem) return;
    watched.problem = problem;
    const { store, events } = this.#tools;
    const title = `${titleOf(row)} could not be expanded by itself: ${problem.replace(/\.$/, '')}.`;
    await store.write((tx) => events.record(tx, { severity: 'error', title, subject: `volume:${row.name}` }));
  }
}

function newWatched(): Watched {
  const none = { historyMinutes: 0, alertMinutes: 0, protectedMinutes: 0, emergencyBytes: 0 };
  return { load: new VolumeLoad(), capacity: new CapacityWatch(none), shown: undefined, problem: undefined };
}

function isProtected(row: Volume): boolean {
  return row.alertMinutes > 0 || row.emergencyBytes > 0 || row.expandsItself;
}

function thresholdsOf(row: Volume): CapacityThresholds {
  const unsaid = row.expandsItself ? row.sizeBytes * EMERGENCY_FRACTION : 0;
  return {
    historyMinutes: row.historyMinutes,
    alertMinutes: row.alertMinutes,
    protectedMinutes: 0,
    emergencyBytes: row.emergencyBytes > 0 ? row.emergencyBytes : unsaid,
  };
}

function crossingTitle(row: Volume, { measure, limit, average, isAbove }: Crossing): string {
  const figures = `${Math.round(average * 10) / 10} ${measure.what} on average over the last minute`;
  const verdict = isAbove ? `above its limit of ${limit}` : `within its limit of ${limit} again`;
  return `${titleOf(row)}: ${figures}, ${verdict}.`;
}
