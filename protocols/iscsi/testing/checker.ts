import { Random } from '../../../testing/random.ts';
import { InitiatorProtocolError } from './errors.ts';
import type { Lun } from './lun.ts';
import { SECTOR_BYTES, SectorModel } from './sector-model.ts';

export { WrongDataError } from './sector-model.ts';

const TRANSFER_BYTES_MAX = 1024 * 1024;
const PLACES_TRIED_MAX = 50;
const VERIFY_BYTES = 1024 * 1024;
const VERIFY_DEPTH = 4;

export interface CheckerOptions {
  readonly seed: number;
  /** Logical blocks of 512 bytes of the unit to use, from its start. */
  readonly sectors: number;
  /** What the unit holds at first: zeros, which are checked, or anything. */
  readonly initial?: 'zeros' | 'unknown';
  /** Opens a new session when the target ends one in order; what it had not answered is then asked again. */
  readonly reconnect?: () => Promise<Lun>;
  /** Unmapped sectors must read as zeros. Leave it out where the unit does not promise that. */
  readonly unmap?: boolean;
}

export interface RunOptions {
  readonly depth?: number;
  readonly operations?: number;
  readonly seconds?: number;
  readonly transferBytesMax?: number;
  /** How many of a hundred operations; the rest are reads. */
  readonly writePercent?: number;
  readonly unmapPercent?: number;
  readonly flushPercent?: number;
}

export interface Counts {
  reads: number;
  writes: number;
  unmaps: number;
  flushes: number;
  bytesRead: number;
  bytesWritten: number;
}

interface Range {
  readonly lba: number;
  readonly sectors: number;
}

interface Written extends Range {
  readonly generation: number;
}

/** Random reads, writes, unmaps and flushes at a depth, never two at the same place; every byte read is checked. */
export class Checker {
  readonly #model: SectorModel;
  readonly #random: Random;
  readonly #unmaps: boolean;
  readonly #reconnect: (() => Promise<Lun>) | undefined;
  readonly #busy = new Set<Range>();
  #lun: Lun;
  #reconnecting: Promise<void> | undefined;
  #generation = 0;
  /** Answered since the last flush began. */
  #volatile: Written[] = [];

  constructor(lun: Lun, { seed, sectors, initial = 'zeros', unmap = false, reconnect }: CheckerOptions) {
    if (lun.blockBytes !== SECTOR_BYTES) throw new Error(`The checker needs blocks of ${SECTOR_BYTES} bytes`);
    this.#lun = lun;
    this.#model = new SectorModel(sectors, seed, initial);
    this.#random = new Random(seed);
    this.#unmaps = unmap;
    this.#reconnect = reconnect;
  }

  /** Goes on over another session, after a crash or a restart of the target. */
  attach(lun: Lun): void {
    this.#lun = lun;
    this.#busy.clear();
  }

  /** Runs for so many operations or seconds, whichever comes first. Rejects at the first wrong byte or failed command. */
  async run(options: RunOptions = {}): Promise<Counts> {
    const counts: Counts = { reads: 0, writes: 0, unmaps: 0, flushes: 0, bytesRead: 0, bytesWritten: 0 };
    const deadlineMs = options.seconds === undefined ? Infinity : Date.now() + options.seconds * 1000;
    let left = options.operations ?? (options.seconds === undefined ? 1000 : Infinity);
    let stopped = false;
    const worker = async () => {
      const buffer = Buffer.allocUnsafeSlow(options.transferBytesMax ?? TRANSFER_BYTES_MAX);
      while (left > 0 && !stopped && Date.now() < deadlineMs) {
        left -= 1;
        await this.#operate(options, buffer, counts);
      }
    };
    const workers = Array.from({ length: options.depth ?? 16 }, () =>
      worker().catch((error: unknown) => {
        stopped = true;
        throw error;
      }),
    );
    const failed = (await Promise.allSettled(workers)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    return counts;
  }

  async #operate(options: RunOptions, buffer: Buffer, counts: Counts): Promise<void> {
    const { writePercent = 45, unmapPercent = 5, flushPercent = 2 } = options;
    const dice = this.#random.below(100);
    if (dice < flushPercent) {
      await this.flush();
      counts.flushes += 1;
      return;
    }
    const range = this.#place(buffer.length / SECTOR_BYTES);
    if (range === undefined) return;
    const bytes = buffer.subarray(0, range.sectors * SECTOR_BYTES);
    this.#busy.add(range);
    try {
      if (dice < flushPercent + unmapPercent && this.#unmaps) {
        await this.#unmap(range);
        counts.unmaps += 1;
      } else if (dice < flushPercent + unmapPercent + writePercent) {
        await this.#write(range, bytes);
        counts.writes += 1;
        counts.bytesWritten += bytes.length;
      } else {
        this.#model.check(await this.#request((lun) => lun.read(range.lba, range.sectors, bytes)), range.lba);
        counts.reads += 1;
        counts.bytesRead += bytes.length;
      }
    } finally {
      this.#busy.delete(range);
    }
  }

  async #write(range: Range, bytes: Buffer): Promise<void> {
    const written = this.#begin(range, false);
    const fua = this.#random.below(20) === 0;
    this.#model.fill(bytes, range.lba, written.generation);
    await this.#request((lun) => lun.write(range.lba, bytes, { fua }));
    this.#model.written(range.lba, range.sectors);
    if (fua) this.#model.makeDurable(range.lba, range.sectors, written.generation);
    else this.#volatile.push(written);
  }

  async #unmap(range: Range): Promise<void> {
    const written = this.#begin(range, true);
    await this.#request((lun) => lun.unmap([{ lba: range.lba, blocks: range.sectors }]));
    this.#model.written(range.lba, range.sectors);
    this.#volatile.push(written);
  }

  #begin(range: Range, zeros: boolean): Written {
    this.#generation += 1;
    this.#model.begin(range.lba, range.sectors, this.#generation, zeros);
    return { ...range, generation: this.#generation };
  }

  /** After this, all that was answered before it must survive a crash. */
  async flush(): Promise<void> {
    const covered = this.#volatile;
    this.#volatile = [];
    try {
      await this.#request((lun) => lun.synchronizeCache());
    } catch (error) {
      this.#volatile.push(...covered);
      throw error;
    }
    for (const { lba, sectors, generation } of covered) this.#model.makeDurable(lba, sectors, generation);
  }

  /** Reads the whole unit and throws where it does not hold what was last written. */
  async verifyAll(): Promise<void> {
    await this.#readAll((bytes, lba) => this.#model.check(bytes, lba));
  }

  /**
   * Reads the whole unit after a crash and throws where flushed writes are lost or a sector holds what was never
   * written to it. What it finds is what it expects from then on.
   */
  async verifyAfterCrash(): Promise<void> {
    this.#volatile = [];
    await this.#readAll((bytes, lba) => this.#model.resolve(bytes, lba));
  }

  async #readAll(check: (bytes: Buffer, lba: number) => void): Promise<void> {
    let next = 0;
    const step = VERIFY_BYTES / SECTOR_BYTES;
    const worker = async () => {
      const buffer = Buffer.allocUnsafeSlow(VERIFY_BYTES);
      while (next < this.#model.sectors) {
        const lba = next;
        const sectors = Math.min(step, this.#model.sectors - lba);
        next += step;
        check(await this.#request((lun) => lun.read(lba, sectors, buffer.subarray(0, sectors * SECTOR_BYTES))), lba);
      }
    };
    await Promise.all(Array.from({ length: VERIFY_DEPTH }, worker));
  }

  async #request<T>(command: (lun: Lun) => Promise<T>): Promise<T> {
    for (;;) {
      const lun = this.#lun;
      try {
        return await command(lun);
      } catch (error) {
        if (this.#reconnect === undefined || lun.session.isOpen || error instanceof InitiatorProtocolError) throw error;
        if (lun === this.#lun) await (this.#reconnecting ??= this.#openAgain(this.#reconnect));
      }
    }
  }

  async #openAgain(reconnect: () => Promise<Lun>): Promise<void> {
    try {
      this.#lun = await reconnect();
    } finally {
      this.#reconnecting = undefined;
    }
  }

  /** A random range that nothing under way touches; half of them whole blocks of 4 KiB. */
  #place(sectorsMax: number): Range | undefined {
    for (let tries = 0; tries < PLACES_TRIED_MAX; tries += 1) {
      const aligned = this.#random.below(2) === 0;
      const wanted = this.#random.size(Math.min(sectorsMax, this.#model.sectors));
      const sectors = aligned && wanted > 8 ? wanted - (wanted % 8) : wanted;
      const at = this.#random.below(this.#model.sectors - sectors + 1);
      const lba = aligned ? at - (at % 8) : at;
      if (![...this.#busy].some((range) => lba < range.lba + range.sectors && range.lba < lba + sectors)) {
        return { lba, sectors };
      }
    }
    return undefined;
  }
}
