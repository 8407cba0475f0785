import { scramble } from '../../../testing/random.ts';

export const SECTOR_BYTES = 512;
const WORDS = SECTOR_BYTES / 4;

/** A sector did not hold what it must. */
export class WrongDataError extends Error {
  override readonly name = 'WrongDataError';
  readonly lba: number;
  readonly expected: string;
  readonly seen: string;

  constructor(lba: number, expected: string, seen: string) {
    super(`Sector ${lba} must hold ${expected}, but holds ${seen}`);
    this.lba = lba;
    this.expected = expected;
    this.seen = seen;
  }
}

/**
 * What every sector of a logical unit must hold. Content follows from the sector's number, the generation (a number
 * that each write gets) and the seed; zeros are what was unmapped or never written. After a crash a sector may hold
 * anything from what was last made durable on.
 */
export class SectorModel {
  readonly sectors: number;
  readonly #seed: number;
  readonly #newest: Uint32Array;
  readonly #durable: Uint32Array;
  /** The generation at which the sector was last made zeros. */
  readonly #zeroed: Uint32Array;
  /** Sectors with unknown content: not checked until written. */
  readonly #unknown: Uint8Array;

  constructor(sectors: number, seed: number, initial: 'zeros' | 'unknown') {
    this.sectors = sectors;
    this.#seed = seed;
    this.#newest = new Uint32Array(sectors);
    this.#durable = new Uint32Array(sectors);
    this.#zeroed = new Uint32Array(sectors);
    this.#unknown = new Uint8Array(sectors).fill(initial === 'unknown' ? 1 : 0);
  }

  /** Fills `into` with what the sectors hold once generation `generation` is written there. */
  fill(into: Buffer, lba: number, generation: number): void {
    const words = wordsOf(into);
    for (let sector = 0; sector < words.length / WORDS; sector += 1) {
      let state = scramble(scramble(lba + sector) ^ scramble(generation) ^ this.#seed);
      const start = sector * WORDS;
      words[start] = lba + sector;
      words[start + 1] = generation;
      words[start + 2] = this.#seed;
      for (let word = start + 3; word < start + WORDS; word += 1) {
        state = (Math.imul(state, 0x19660d) + 0x3c6ef35f) | 0;
        words[word] = state;
      }
    }
  }

  /** Generation `generation` is on its way to these sectors. */
  begin(lba: number, sectors: number, generation: number, zeros: boolean): void {
    this.#newest.fill(generation, lba, lba + sectors);
    if (zeros) this.#zeroed.fill(generation, lba, lba + sectors);
  }

  /** The write was answered: what was there before cannot be read any more. */
  written(lba: number, sectors: number): void {
    this.#unknown.fill(0, lba, lba + sectors);
  }

  /** What was written by `generation` survives a crash. */
  makeDurable(lba: number, sectors: number, generation: number): void {
    for (let at = lba; at < lba + sectors; at += 1) {
      if ((this.#durable[at] as number) < generation) this.#durable[at] = generation;
    }
  }

  /** Throws unless the bytes are what was last written there. */
  check(bytes: Buffer, lba: number): void {
    const sectors = bytes.length / SECTOR_BYTES;
    const scratch = Buffer.allocUnsafeSlow(SECTOR_BYTES);
    for (let sector = 0; sector < sectors; sector += 1) {
      const at = lba + sector;
      if (this.#unknown[at] === 1) continue;
      const newest = this.#newest[at] as number;
      if (newest === this.#zeroed[at]) scratch.fill(0);
      else this.fill(scratch, at, newest);
      const start = sector * SECTOR_BYTES;
      if (bytes.compare(scratch, 0, SECTOR_BYTES, start, start + SECTOR_BYTES) === 0) continue;
      const expected = newest === this.#zeroed[at] ? 'zeros' : `generation ${newest}`;
      throw new WrongDataError(at, expected, this.#describe(bytes.subarray(start, start + SECTOR_BYTES), scratch));
    }
  }

  /** Throws unless each sector holds something that may be left after a crash; from then on it must hold just that. */
  resolve(bytes: Buffer, lba: number): void {
    const scratch = Buffer.allocUnsafeSlow(SECTOR_BYTES);
    for (let sector = 0; sector < bytes.length / SECTOR_BYTES; sector += 1) {
      const seen = bytes.subarray(sector * SECTOR_BYTES, (sector + 1) * SECTOR_BYTES);
      this.#resolveSector(lba + sector, seen, scratch);
    }
  }

  #resolveSector(at: number, seen: Buffer, scratch: Buffer): void {
    if (this.#unknown[at] === 1) return;
    const durable = this.#durable[at] as number;
    const newest = this.#newest[at] as number;
    const zeroed = this.#zeroed[at] as number;
    if (isZeros(seen) && zeroed >= durable) {
      this.#newest[at] = this.#durable[at] = zeroed;
      return;
    }
    const generation = seen.readUInt32LE(4);
    this.fill(scratch, at, generation);
    const inTime = generation >= durable && generation <= newest && generation !== zeroed;
    if (!inTime || !scratch.equals(seen)) {
      const expected = durable === newest ? `generation ${newest}` : `a generation from ${durable} to ${newest}`;
      throw new WrongDataError(at, expected, this.#describe(seen, scratch));
    }
    this.#newest[at] = this.#durable[at] = generation;
  }

  /** The generation the content is of, if it is of any. */
  #describe(seen: Buffer, scratch: Buffer): string {
    if (isZeros(seen)) return 'zeros';
    const lba = seen.readUInt32LE(0);
    const generation = seen.readUInt32LE(4);
    this.fill(scratch, lba, generation);
    if (scratch.equals(seen)) return `generation ${generation} of sector ${lba}`;
    const differs = seen.findIndex((byte, index) => byte !== scratch[index]);
    const start = seen.subarray(0, 16).toString('hex');
    return `${start}… (like generation ${generation} of sector ${lba} up to byte ${differs})`;
  }
}

function wordsOf(bytes: Buffer): Int32Array {
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
}

function isZeros(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0);
}
