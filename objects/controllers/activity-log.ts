import { namesOf, recordsOf, tableOf } from '@granary/kernel/threads';
import type { RequestRecord } from '@granary/protocols/objects';
import type { DriveActivity, OperationTotals } from '@granary/storage/objects';
import type { Activity, DriveShare, ToldActivity } from './protocol.ts';

const REQUEST_NAMES = namesOf<RequestRecord>({
  requestId: true,
  protocol: true,
  action: true,
  class: true,
  subject: true,
  account: true,
  user: true,
  username: true,
  policy: true,
  bucket: true,
  key: true,
  status: true,
  isLimited: true,
  bytesIn: true,
  bytesOut: true,
  bytesDeleted: true,
  milliseconds: true,
  at: true,
  ip: true,
});

/** What a thread told, on the other side. */
export function activityOf({ requests, drives }: ToldActivity): Activity {
  return { requests: recordsOf(REQUEST_NAMES, requests), drives };
}

/** What a thread did and has not told yet. */
export class ActivityLog {
  readonly #totals: () => ReadonlyMap<number, DriveActivity>;
  readonly #told = new Map<number, DriveActivity>();
  #requests: RequestRecord[] = [];

  constructor(totals: () => ReadonlyMap<number, DriveActivity>) {
    this.#totals = totals;
  }

  note(request: RequestRecord): void {
    this.#requests.push(request);
  }

  get isEmpty(): boolean {
    return this.#requests.length === 0 && this.#changed().length === 0;
  }

  /** Each thing is told once. */
  take(): ToldActivity {
    const requests = tableOf(REQUEST_NAMES, this.#requests);
    this.#requests = [];
    const drives = this.#changed();
    for (const [drive, totals] of this.#totals()) this.#told.set(drive, totals);
    return { requests, drives };
  }

  #changed(): DriveShare[] {
    const shares = [...this.#totals()].map(([drive, totals]) => {
      const told = this.#told.get(drive);
      const activity = {
        put: since(totals.put, told?.put),
        get: since(totals.get, told?.get),
        delete: since(totals.delete, told?.delete),
      };
      return { drive, activity };
    });
    return shares.filter(
      ({ activity: { put, get, delete: gone } }) => put.operations + get.operations + gone.operations > 0,
    );
  }
}

/** A drive that was opened anew counts from nothing again. */
function since(now: OperationTotals, before: OperationTotals | undefined): OperationTotals {
  if (before === undefined || before.operations > now.operations) return now;
  return {
    operations: now.operations - before.operations,
    bytes: now.bytes - before.bytes,
    milliseconds: now.milliseconds - before.milliseconds,
  };
}
