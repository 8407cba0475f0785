import { IO_SIZE_ENDS, type IoSizes } from '../../report.ts';

/** Counts reads and writes by how large they are. */
export class SizeCounter {
  readonly #reads = new Array<number>(IO_SIZE_ENDS.length + 1).fill(0);
  readonly #writes = new Array<number>(IO_SIZE_ENDS.length + 1).fill(0);

  read(bytes: number): void {
    countIn(this.#reads, bytes);
  }

  write(bytes: number): void {
    countIn(this.#writes, bytes);
  }

  counts(): IoSizes {
    return { reads: [...this.#reads], writes: [...this.#writes] };
  }
}

function countIn(counts: number[], bytes: number): void {
  const found = IO_SIZE_ENDS.findIndex((end) => bytes <= end);
  const index = found < 0 ? IO_SIZE_ENDS.length : found;
  counts[index] = (counts[index] ?? 0) + 1;
}
