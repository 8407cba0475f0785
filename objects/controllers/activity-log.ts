import { namesOf, recordsOf, tableOf } from '@granary/kernel/threads';
import type { RequestRecord } from '@granary/protocols/objects';
import type { DriveActivity } from '@granary/storage/objects';
import { DriveShares } from './drive-shares.ts';
import type { Activity, ToldActivity } from './protocol.ts';

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
  readonly #drives: DriveShares;
  #requests: RequestRecord[] = [];

  constructor(totals: () => ReadonlyMap<number, DriveActivity>) {
    this.#drives = new DriveShares(totals);
  }

  note(request: RequestRecord): void {
    this.#requests.push(request);
  }

  get isEmpty(): boolean {
    return this.#requests.length === 0 && this.#drives.isEmpty;
  }

  /** Each thing is told once. */
  take(): ToldActivity {
    const requests = tableOf(REQUEST_NAMES, this.#requests);
    this.#requests = [];
    return { requests, drives: this.#drives.take() };
  }
}
