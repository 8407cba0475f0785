/** Totals since the drive was opened in this thread. */
export interface OperationTotals {
  readonly operations: number;
  readonly bytes: number;
  readonly milliseconds: number;
}

/** A put is a piece made durable, a get a verified read of a piece, a delete a segment removed. */
export interface DriveActivity {
  readonly put: OperationTotals;
  readonly get: OperationTotals;
  readonly delete: OperationTotals;
}

export class OperationCounter {
  #operations = 0;
  #bytes = 0;
  #milliseconds = 0;

  add(bytes: number, milliseconds: number): void {
    this.#operations += 1;
    this.#bytes += bytes;
    this.#milliseconds += milliseconds;
  }

  totals(): OperationTotals {
    return { operations: this.#operations, bytes: this.#bytes, milliseconds: this.#milliseconds };
  }
}

/** Counts what a drive does; times are measured. */
export class ActivityMeter {
  readonly put = new OperationCounter();
  readonly get = new OperationCounter();
  readonly delete = new OperationCounter();

  totals(): DriveActivity {
    return { put: this.put.totals(), get: this.get.totals(), delete: this.delete.totals() };
  }
}
