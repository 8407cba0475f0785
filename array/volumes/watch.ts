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
  /** How much the volume shows, when it was last counted. */
  shown: Shown | undefined;
  /** Why it could not expand, as already recorded. */
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
  readonly volume: Volume;
}

const CHECK_EVERY_MS = 5_000;
/** The default threshold to expand: a tenth of it is free. */
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
    const volumes = store.read(listWatched);
    const before = this.#watched;
    this.#watched = new Map(volumes.map((volume) => [volume.name, before.get(volume.name) ?? newWatched()]));
    for (const present of volumes) {
      const report = readings.volume(present.name);
      const watched = this.#watched.get(present.name);
      if (report && watched) await this.#check(present, report, watched, atMs);
    }
  }

  async #check(volume: Volume, report: VolumeReport, watched: Watched, atMs: number): Promise<void> {
    const crossings = watched.load.record(volume, report.io, atMs);
    const { mode, freeBytes } = await this.#capacityOf(volume, report, watched, atMs);
    if (crossings.length > 0 || mode !== volume.capacityMode)
      await this.#recordEvents(crossings, { volume, mode, freeBytes });
    if (mode === 'emergency' && volume.expandsItself) await this.#relieve(volume, watched);
    else watched.problem = undefined;
  }

  async #capacityOf(volume: Volume, report: VolumeReport, watched: Watched, atMs: number): Promise<Capacity> {
    if (!isProtected(volume)) return { mode: 'normal', freeBytes: volume.sizeBytes };
    // A share that is not mounted has no writers, and only its filesystem knows how full it is.
    if (volume.kind === 'file' && !report.share) return { mode: volume.capacityMode, freeBytes: 0 };
    const freeBytes = await this.#freeBytes(volume, report, watched);
    const takenBytes = volume.sizeBytes - freeBytes;
    watched.capacity.setThresholds(thresholdsOf(volume));
    watched.capacity.record(atMs, takenBytes);
    return { mode: watched.capacity.mode(freeBytes), freeBytes };
  }

  async #freeBytes(volume: Volume, report: VolumeReport, watched: Watched): Promise<number> {
    if (report.share) return report.share.availableBytes;
    return Math.max(0, volume.sizeBytes - (await this.#usedBytes(report, watched)));
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
    const { volume, mode } = change;
    await store.write((tx) => {
      for (const crossing of crossings) {
        const severity = crossing.isAbove ? 'warning' : 'notice';
        events.record(tx, { severity, title: crossingTitle(volume, crossing), subject: `volume:${volume.name}` });
      }
      if (mode !== volume.capacityMode) this.#changeMode(tx, change);
    });
  }

  #changeMode(tx: Tx, { volume, mode, freeBytes }: ModeChange): void {
    if (findVolume(tx, volume.name)?.state !== 'ready') return;
    updateVolume(tx, volume.name, { capacityMode: mode });
    const left = `${capacityText(freeBytes)} of ${capacityText(volume.sizeBytes)} are left`;
    const modeEvents = {
      normal: { severity: 'notice', title: `${titleOf(volume)} has room again: ${left}.` },
      alert: {
        severity: 'warning',
        title: `${titleOf(volume)} will be full within ${volume.alertMinutes} minutes: ${left}.`,
      },
      protected: { severity: 'warning', title: `${titleOf(volume)} is filling up: ${left}.` },
      emergency: { severity: 'error', title: `${titleOf(volume)} runs full: ${left}.` },
    } as const;
    this.#tools.events.record(tx, { ...modeEvents[mode], subject: `volume:${volume.name}` });
  }

  /** By one step at a time; the next check shows whether that was enough. */
  async #relieve(volume: Volume, watched: Watched): Promise<void> {
    if (volume.mirrorJob !== null) return this.#cannot(volume, watched, 'it is as large as the volume it mirrors');
    const most = volume.maxBytes ?? Infinity;
    const size = bytes(Math.min(volume.sizeBytes + (volume.expandByBytes ?? 0), most));
    if (size <= volume.sizeBytes) return this.#cannot(volume, watched, 'it is as large as it may become');
    try {
      await this.#expand(volume.name, size);
      watched.problem = undefined;
    } catch (error) {
      await this.#cannot(volume, watched, error instanceof Error ? error.message : String(error));
    }
  }

  /** Recorded once, not at every check. */
  async #cannot(volume: Volume, watched: Watched, problem: string): Promise<void> {
    if (watched.problem === problem) return;
    watched.problem = problem;
    const { store, events } = this.#tools;
    const title = `${titleOf(volume)} could not be expanded by itself: ${problem.replace(/\.$/, '')}.`;
    await store.write((tx) => events.record(tx, { severity: 'error', title, subject: `volume:${volume.name}` }));
  }
}

function newWatched(): Watched {
  const none = { historyMinutes: 0, alertMinutes: 0, protectedMinutes: 0, emergencyBytes: 0 };
  return { load: new VolumeLoad(), capacity: new CapacityWatch(none), shown: undefined, problem: undefined };
}

function isProtected(volume: Volume): boolean {
  return volume.alertMinutes > 0 || volume.emergencyBytes > 0 || volume.expandsItself;
}

function thresholdsOf(volume: Volume): CapacityThresholds {
  const unsaid = volume.expandsItself ? volume.sizeBytes * EMERGENCY_FRACTION : 0;
  return {
    historyMinutes: volume.historyMinutes,
    alertMinutes: volume.alertMinutes,
    protectedMinutes: 0,
    emergencyBytes: volume.emergencyBytes > 0 ? volume.emergencyBytes : unsaid,
  };
}

function crossingTitle(volume: Volume, { measure, limit, average, isAbove }: Crossing): string {
  const figures = `${Math.round(average * 10) / 10} ${measure.what} on average over the last minute`;
  const verdict = isAbove ? `above its limit of ${limit}` : `within its limit of ${limit} again`;
  return `${titleOf(volume)}: ${figures}, ${verdict}.`;
}
