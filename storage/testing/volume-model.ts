const SECTOR_BYTES = 512;
const SECTOR_WORDS = SECTOR_BYTES / 4;

/** What a volume must hold: one number a sector, 0 for zeros. */
export class VolumeModel {
  stamps: Uint32Array;

  constructor(sectors: number) {
    this.stamps = new Uint32Array(sectors);
  }

  get sectors(): number {
    return this.stamps.length;
  }

  copy(): VolumeModel {
    const model = new VolumeModel(0);
    model.stamps = this.stamps.slice();
    return model;
  }

  expand(sectors: number): void {
    const stamps = new Uint32Array(sectors);
    stamps.set(this.stamps);
    this.stamps = stamps;
  }

  fill(sector: number, count: number, stamp: number): void {
    this.stamps.fill(stamp, sector, sector + count);
  }

  /** The bytes the sectors must read as. */
  bytes(sector: number, count: number): Buffer {
    const words = new Uint32Array(count * SECTOR_WORDS);
    for (let index = 0; index < count; index++) {
      writeSector(words, index * SECTOR_WORDS, this.stamps[sector + index] ?? 0, sector + index);
    }
    return Buffer.from(words.buffer);
  }
}

/** What a sector holds after a write with the stamp. */
export function sectorBytes(stamp: number, sector: number): Buffer {
  const words = new Uint32Array(SECTOR_WORDS);
  writeSector(words, 0, stamp, sector);
  return Buffer.from(words.buffer);
}

function writeSector(words: Uint32Array, start: number, stamp: number, sector: number): void {
  words.fill(stamp, start, start + SECTOR_WORDS);
  // Sectors of one write differ, so that bytes in the wrong place are seen.
  if (stamp !== 0) words[start] = (stamp ^ Math.imul(sector + 1, 0x9e3779b1)) >>> 0;
}
