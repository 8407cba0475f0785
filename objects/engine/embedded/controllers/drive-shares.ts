import type { DriveActivity, DriveShare, OperationTotals } from '../../activity.ts';

/** What a thread did on its drives and has not reported yet. */
export class DriveShares {
  readonly #totals: () => ReadonlyMap<number, DriveActivity>;
  readonly #reported = new Map<number, DriveActivity>();

  constructor(totals: () => ReadonlyMap<number, DriveActivity>) {
    this.#totals = totals;
  }

  get isEmpty(): boolean {
    return this.#changed().length === 0;
  }

  /** Each operation is reported once. */
  drain(): DriveShare[] {
    const shares = this.#changed();
    for (const [drive, totals] of this.#totals()) this.#reported.set(drive, totals);
    return shares;
  }

  #changed(): DriveShare[] {
    const shares = [...this.#totals()].map(([drive, totals]) => {
      const reported = this.#reported.get(drive);
      const activity = {
        put: since(totals.put, reported?.put),
        get: since(totals.get, reported?.get),
        delete: since(totals.delete, reported?.delete),
      };
      return { drive, activity };
    });
    return shares.filter(
      ({ activity: { put, get, delete: gone } }) => put.operations + get.operations + gone.operations > 0,
    );
  }
}

/** A drive that was reopened counts from zero again. */
function since(now: OperationTotals, before: OperationTotals | undefined): OperationTotals {
  if (before === undefined || before.operations > now.operations) return now;
  return {
    operations: now.operations - before.operations,
    bytes: now.bytes - before.bytes,
    milliseconds: now.milliseconds - before.milliseconds,
  };
}
