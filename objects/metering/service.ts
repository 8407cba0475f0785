import type { Clock, Log, Store } from '@granary/kernel';
import type { RequestRecord } from '@granary/protocols/objects';
import type { Activity } from '../engine/activity.ts';
import { GROUP } from '../load-balancer-groups/service.ts';
import { addTransfers, deleteTransfers, sumTransfers, type Transferred } from '../usage-reports/repository.ts';
import { TransferBuffer } from '../usage-reports/transfers.ts';
import { pointsOf, startOf, type Period, type Point } from './points.ts';
import { addActivity, ageActivity, deleteActivity, listActivity } from './repository.ts';
import { FINEST_STEP } from './levels.ts';
import { SlotBuffer, subjectsOf, type Subject } from './slots.ts';

interface MeteringOptions {
  /** A file of its own: it is written continuously, and no request waits for it. */
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Uuid of a drive by its number in the layout. */
  readonly driveUuid: (number: number) => string | undefined;
}

const WRITE_EVERY_MS = 1_000;
const AGE_EVERY_MS = 60_000;

/**
 * Counts what the data path does: for the points over time in slots that are written when they are over, for bills by
 * account and day, each second. A process that is killed takes at most that along.
 */
export class Metering {
  readonly #options: MeteringOptions;
  readonly #slots = new SlotBuffer();
  readonly #transfers = new TransferBuffer();
  readonly #timers: NodeJS.Timeout[] = [];
  #turn: Promise<void> = Promise.resolve();

  constructor(options: MeteringOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timers.push(setInterval(() => this.#quietly(this.write()), WRITE_EVERY_MS).unref());
    this.#timers.push(setInterval(() => this.#quietly(this.age()), AGE_EVERY_MS).unref());
  }

  /** What a controller did, each thing once. */
  record(controller: string, { requests, drives }: Activity): void {
    const now = this.#options.clock.now();
    for (const request of requests) {
      const at = Math.min(now, request.at + request.milliseconds);
      this.#transfers.add(request, at);
      this.#recordRequest(request, controller, at);
    }
    this.recordDrives(drives);
  }

  /** What a thread did on drives, each thing once. */
  recordDrives(drives: Activity['drives']): void {
    const now = this.#options.clock.now();
    for (const { drive, activity } of drives) {
      const name = this.#options.driveUuid(drive);
      if (name === undefined) continue;
      for (const what of ['put', 'get', 'delete'] as const)
        this.#slots.add({ kind: 'drive', name }, now, what, activity[what]);
    }
  }

  /** Newest last. */
  points(subject: Subject, period: Period): Point[] {
    const { store, clock } = this.#options;
    const now = clock.now() / 1000;
    const kept = store.read((db) => listActivity(db, subject, startOf(period, now)));
    return pointsOf([...kept, ...this.#slots.of(subject)], period, now);
  }

  /** Puts what is over on disk; with `all`, what is under way, too. One after the other, so that nothing is added twice. */
  write(all = false): Promise<void> {
    this.#turn = this.#turn.catch(() => undefined).then(() => this.#write(all));
    return this.#turn;
  }

  /** Figures become coarser as they grow old. */
  async age(): Promise<void> {
    const { store, clock } = this.#options;
    while (await store.write((tx) => ageActivity(tx, clock.now() / 1000)));
  }

  /** Nothing of an account is known afterwards, its transfers neither. */
  async dropAccount(name: string): Promise<void> {
    const subject: Subject = { kind: 'account', name };
    this.#slots.drop(subject);
    this.#transfers.drop(name);
    await this.#options.store.write((tx) => {
      deleteActivity(tx, subject);
      deleteTransfers(tx, name);
    });
  }

  /** What an account moved from one day to another, the last not among them. */
  async transferred(account: string, from: number, to: number): Promise<Transferred> {
    await this.write();
    return this.#options.store.read((db) => sumTransfers(db, account, from, to));
  }

  /** Everything is on disk afterwards. */
  async finish(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.write(true);
  }

  #recordRequest(request: RequestRecord, controller: string, at: number): void {
    const { subject, class: what, account, user, policy, milliseconds } = request;
    if (subject !== 'object' || what === 'other') return;
    const bytes = { put: request.bytesIn, get: request.bytesOut, delete: request.bytesDeleted }[what];
    const work = { operations: 1, bytes, milliseconds };
    if (account !== null) this.#slots.add({ kind: 'account', name: account }, at, what, work);
    if (user !== null) this.#slots.add({ kind: 'user', name: user }, at, what, work);
    if (policy !== null) this.#slots.add({ kind: 'policy', name: String(policy) }, at, what, work);
    this.#slots.add({ kind: 'controller', name: controller }, at, what, work);
    this.#slots.add({ kind: 'group', name: GROUP }, at, what, work);
  }

  async #write(all: boolean): Promise<void> {
    const { store, clock } = this.#options;
    const slots = this.#slots.due(clock.now(), all);
    const transfers = this.#transfers.due();
    if (slots.length === 0 && transfers.length === 0) return;
    await store.write((tx) => {
      for (const slot of slots)
        for (const [subject, figures] of subjectsOf(slot))
          addActivity(tx, subject, { slot: slot.start, step: FINEST_STEP, figures });
      addTransfers(tx, transfers);
      tx.afterCommit(() => {
        this.#slots.written(slots);
        this.#transfers.written();
      });
    });
  }

  #quietly(work: Promise<void>): void {
    work.catch((error: unknown) => this.#options.log.error({ error }, 'figures could not be written; they wait'));
  }
}
