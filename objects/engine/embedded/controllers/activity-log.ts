import type { RequestRecord } from '@granary/protocols/objects';
import type { Activity, DriveActivity } from '../../activity.ts';
import { DriveShares } from './drive-shares.ts';

/** What a thread did and has not reported yet. */
export class ActivityLog {
  readonly #drives: DriveShares;
  #requests: RequestRecord[] = [];

  constructor(totals: () => ReadonlyMap<number, DriveActivity>) {
    this.#drives = new DriveShares(totals);
  }

  add(request: RequestRecord): void {
    this.#requests.push(request);
  }

  get isEmpty(): boolean {
    return this.#requests.length === 0 && this.#drives.isEmpty;
  }

  /** Each request is reported once. */
  drain(): Activity {
    const requests = this.#requests;
    this.#requests = [];
    return { requests, drives: this.#drives.drain() };
  }
}
