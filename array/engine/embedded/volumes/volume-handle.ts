import type { BlockDevice, Done, Volume } from '@granary/storage';
import type { IoTotals, VolumeReport } from '../../report.ts';
import type { EnginePool } from '../pools.ts';
import type { ShareFigures, ShareVolume } from '../setup.ts';
import { SizeCounter } from '../reports/size-counter.ts';
import { addLatencies, latenciesOf, minus, NO_IO, NO_LATENCIES, plus, totalsOf } from '../reports/totals.ts';

/** A volume. It stays valid when the volume moves to another pool. */
export class VolumeHandle implements ShareVolume {
  readonly id: string;
  readonly readOnly = false;
  /** Where it is now. */
  volume: Volume;
  pool: EnginePool;
  /** In which version of the report it last changed. */
  changedIn = 0;
  readonly #onChange: (handle: VolumeHandle) => void;
  #report: VolumeReport | undefined;
  /** I/O in the pools it was in before, and the I/O that its present pool has counted. */
  #before: IoTotals = NO_IO;
  #counted: IoTotals = NO_IO;
  /** The same of how long it took. */
  #latenciesBefore = NO_LATENCIES;
  #latenciesCounted = NO_LATENCIES;
  #hold: NodeJS.Timeout | undefined;
  #sizes: SizeCounter | undefined;
  #figures: ShareFigures | undefined;

  constructor(volume: Volume, pool: EnginePool, onChange: (handle: VolumeHandle) => void) {
    this.id = volume.id;
    this.volume = volume;
    this.pool = pool;
    this.#onChange = onChange;
    onChange(this);
  }

  get sizeBytes(): number {
    return this.volume.sizeBytes;
  }

  /** Its pool knows it; no longer so while it is being deleted. */
  get isThere(): boolean {
    return this.pool.pool?.volumes.find(this.id) === this.volume;
  }

  get isLocked(): boolean {
    return this.volume.isLocked;
  }

  get isHeld(): boolean {
    return this.#hold !== undefined;
  }

  get figures(): ShareFigures | undefined {
    return this.#figures;
  }

  set figures(figures: ShareFigures | undefined) {
    this.#figures = figures;
    this.changed();
  }

  changed(): void {
    this.#onChange(this);
  }

  /** Of a share, what clients do counts, not what its filesystem does. */
  counted(kind: 'reads' | 'writes', bytes: number): void {
    if (kind === 'reads') this.#sizes?.read(bytes);
    else this.#sizes?.write(bytes);
    this.#onChange(this);
  }

  read(offset: number, into: Buffer): Done {
    if (!this.#figures) this.#sizes?.read(into.length);
    return this.volume.read(offset, into);
  }

  write(offset: number, from: Buffer): Done {
    if (!this.#figures) this.#sizes?.write(from.length);
    return this.volume.write(offset, from);
  }

  flush(): Promise<void> {
    return this.volume.flush();
  }

  discard(offset: number, length: number): Done {
    return this.volume.discard(offset, length);
  }

  mapped(offset: number, length: number, runsMax?: number): ReturnType<BlockDevice['mapped']> {
    return this.volume.mapped(offset, length, runsMax);
  }

  countSizes(isWanted: boolean): void {
    this.#sizes = isWanted ? (this.#sizes ?? new SizeCounter()) : undefined;
    this.#onChange(this);
  }

  /** As it is now. What was read and written since the last measurement is counted to its pool. */
  measure(): VolumeReport {
    const { volume, pool } = this;
    volume.onNextChange = () => this.#onChange(this);
    const io = totalsOf(volume.statistics());
    pool.io = plus(pool.io, minus(io, this.#counted));
    this.#counted = io;
    const latencies = volume.latencies();
    pool.latencies = addLatencies(pool.latencies, addLatencies(latencies, this.#latenciesCounted, -1));
    this.#latenciesCounted = latencies;
    const figures = this.#figures;
    const usage = pool.open.volumeUsage(this.id);
    this.#report = {
      id: this.id,
      pool: pool.id,
      ...usage,
      isLocked: volume.isLocked,
      io: figures?.io ?? plus(this.#before, io),
      latencies: latenciesOf(figures?.latencies ?? addLatencies(this.#latenciesBefore, latencies)),
      sizes: this.#sizes?.counts() ?? null,
      share: figures?.share ?? null,
    };
    return this.#report;
  }

  get report(): VolumeReport {
    return this.#report ?? this.measure();
  }

  /** Writes are held back by now and wait for the new place. */
  moved(volume: Volume, pool: EnginePool): void {
    this.measure();
    this.#before = plus(this.#before, this.#counted);
    this.#counted = NO_IO;
    this.#latenciesBefore = addLatencies(this.#latenciesBefore, this.#latenciesCounted);
    this.#latenciesCounted = NO_LATENCIES;
    if (this.#hold) void volume.gate.close();
    const { gate } = this.volume;
    if (this.#hold) gate.open();
    this.volume = volume;
    this.pool = pool;
    this.#onChange(this);
  }

  /** Holds writes back until `release`, or until the time is up; resolves when none is under way. */
  async hold(forMs: number): Promise<void> {
    const isHeld = this.#hold !== undefined;
    clearTimeout(this.#hold);
    this.#hold = setTimeout(() => this.release(), forMs).unref();
    if (!isHeld) await this.volume.gate.close();
  }

  release(): void {
    if (!this.#hold) return;
    clearTimeout(this.#hold);
    this.#hold = undefined;
    this.volume.gate.open();
  }
}
