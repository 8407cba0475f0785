const SECTOR_BYTES = 512;

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
    const words = new Uint32Array((count * SECTOR_BYTES) / 4);
    for (let index = 0; index < count; index++) {
      const start = (index * SECTOR_BYTES) / 4;
      const stamp = this.stamps[sector + index] ?? 0;
      words.fill(stamp, start, start + SECTOR_BYTES / 4);
      // Sectors of one write differ, so that bytes in the wrong place are seen.
      if (stamp !== 0) words[start] = (stamp ^ Math.imul(sector + index + 1, 0x9e3779b1)) >>> 0;
    }
    return Buffer.from(words.buffer);
  }
}
