import type { Log } from '@granary/kernel';
import type { Engine } from '../engine/engine.ts';
import type {
  ControllerReport,
  DriveReport,
  GroupReport,
  PoolReport,
  Report,
  ServerReport,
  SessionReport,
  VolumeReport,
} from '../engine/report.ts';

const READ_EVERY_MS = 1_000;

type OnReading = (readings: Readings, atMs: number) => unknown;

/**
 * What the engine last reported, kept at hand so that lists need not ask it. A second old at most; `refresh` where
 * that is too old.
 */
export class Readings {
  readonly #engine: Engine;
  readonly #log: Log;
  readonly #listeners: OnReading[] = [];
  readonly #volumes = new Map<string, VolumeReport>();
  #drives: ReadonlyMap<string, DriveReport> = new Map();
  #groups: ReadonlyMap<string, GroupReport> = new Map();
  #pools: ReadonlyMap<string, PoolReport> = new Map();
  #sessions: readonly SessionReport[] = [];
  #servers: readonly ServerReport[] = [];
  #controllers: readonly ControllerReport[] = [];
  #version = 0;
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> | undefined;
  #nextReading: Promise<void> | undefined;
  #isStopped = false;

  constructor(engine: Engine, log: Log) {
    this.#engine = engine;
    this.#log = log;
  }

  /** Called after each reading, one after the other; what it throws is logged. */
  onReading(listener: OnReading): void {
    this.#listeners.push(listener);
  }

  async start(): Promise<void> {
    await this.refresh();
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#reading?.catch(() => undefined);
  }

  /** Reads now. Those who ask while a reading is under way share the next one: it begins after they asked. */
  refresh(): Promise<void> {
    if (!this.#reading) {
      this.#reading = this.#read().finally(() => (this.#reading = undefined));
      return this.#reading;
    }
    this.#nextReading ??= this.#reading
      .catch(() => undefined)
      .then(() => {
        this.#nextReading = undefined;
        return this.refresh();
      });
    return this.#nextReading;
  }

  drive(uuid: string): DriveReport | undefined {
    return this.#drives.get(uuid);
  }

  group(id: string): GroupReport | undefined {
    return this.#groups.get(id);
  }

  pool(id: string): PoolReport | undefined {
    return this.#pools.get(id);
  }

  volume(id: string): VolumeReport | undefined {
    return this.#volumes.get(id);
  }

  get drives(): Iterable<DriveReport> {
    return this.#drives.values();
  }

  get groups(): Iterable<GroupReport> {
    return this.#groups.values();
  }

  get pools(): Iterable<PoolReport> {
    return this.#pools.values();
  }

  get volumes(): Iterable<VolumeReport> {
    return this.#volumes.values();
  }

  get sessions(): readonly SessionReport[] {
    return this.#sessions;
  }

  get servers(): readonly ServerReport[] {
    return this.#servers;
  }

  get controllers(): readonly ControllerReport[] {
    return this.#controllers;
  }

  /** One volume as it is this moment. */
  async freshVolume(id: string): Promise<VolumeReport> {
    const report = await this.#engine.volume(id);
    this.#volumes.set(id, report);
    return report;
  }

  /** It was deleted: the engine does not report that. */
  removeVolume(id: string): void {
    this.#volumes.delete(id);
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => void this.#readAndTell(), READ_EVERY_MS);
    this.#timer.unref();
  }

  async #readAndTell(): Promise<void> {
    try {
      await this.refresh();
      for (const listener of this.#listeners) await this.#notify(listener);
    } catch (error) {
      this.#log.warn({ error }, 'the engine could not be read');
    }
    this.#schedule();
  }

  async #notify(listener: OnReading): Promise<void> {
    try {
      await listener(this, Date.now());
    } catch (error) {
      this.#log.error({ error }, 'a reading could not be used');
    }
  }

  async #read(): Promise<void> {
    const report: Report = await this.#engine.report(this.#version);
    this.#version = report.version;
    this.#drives = byId(report.drives);
    this.#groups = byId(report.groups);
    this.#pools = byId(report.pools);
    for (const volume of report.volumes) this.#volumes.set(volume.id, volume);
    this.#sessions = report.sessions;
    this.#servers = report.servers;
    this.#controllers = report.controllers;
  }
}

function byId<T extends { readonly id: string }>(all: readonly T[]): ReadonlyMap<string, T> {
  return new Map(all.map((each) => [each.id, each]));
}
