import {
  connectionReason,
  GranaryError,
  type Clock,
  type EventLog,
  type Log,
  type NewEvent,
  type Store,
} from '@granary/kernel';
import type { Bucket, Commit, Replication as Change } from '@granary/storage/object-store';
import { findAccount } from '../accounts/repository.ts';
import type { DestinationGrants } from '../destinations/grants.ts';
import type { DestinationService } from '../destinations/service.ts';
import type { ObjectCatalogue, ObjectEngine } from '../engine/engine.ts';
import { Lane, waitAfter } from '../lanes.ts';
import type { ReplicationOrder, ReplicationOutcome } from '../engine/replication/order.ts';

interface ReplicationOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly log: Log;
  readonly commit: Commit;
  readonly engine: Pick<ObjectEngine, 'replicate'> & {
    readonly catalogue: Pick<ObjectCatalogue, 'replicationDestinations' | 'replicationsDue' | 'bucketById'>;
  };
  readonly destinations: Pick<DestinationService, 'place' | 'recordProblem'>;
  readonly grants: Pick<DestinationGrants, 'find' | 'refusalOf'>;
}

const POLL_MS = 500;
const FIRST_WAIT_MS = 1_000;
const LANE_MAX = 8;
const TOTAL_MAX = 16;
/** Refused objects of a bucket are reported at most this often. */
const REPORT_AGAIN_MS = 3_600_000;

/**
 * Passes changes of buckets on to where their rules say. What is to be passed on stands in the index since the change
 * itself; it leaves there when the other side has it, so whatever stops this, nothing is forgotten.
 */
export class ReplicationService {
  readonly #options: ReplicationOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #running = new Set<Promise<void>>();
  /** Buckets whose target is missing or closed. */
  readonly #closed = new Set<number>();
  readonly #reportedAt = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: ReplicationOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.#poll(), POLL_MS);
    this.#timer.unref();
  }

  /** Nothing new is begun. */
  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
  }

  /** After the controllers ended: what they were about to do has been noted, or stays to be done. */
  async finish(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  #poll(): void {
    if (this.#stopped) return;
    try {
      const { catalogue } = this.#options.engine;
      for (const destination of catalogue.replicationDestinations()) this.#fill(destination);
    } catch (error) {
      this.#options.log.error({ error }, 'what is to be replicated could not be looked up');
    }
  }

  #fill(destination: string): void {
    const { clock, engine } = this.#options;
    const lane = this.#laneOf(destination);
    const free = Math.min(lane.free(clock.now(), LANE_MAX), TOTAL_MAX - this.#running.size);
    if (free <= 0) return;
    const due = engine.catalogue.replicationsDue(destination, clock.now(), free + lane.running.size);
    const waiting = due.filter((change) => !lane.running.has(nameOf(change)));
    for (const change of waiting.slice(0, free)) this.#begin(lane, change);
  }

  #begin(lane: Lane, change: Change): void {
    lane.running.add(nameOf(change));
    const work = this.#pass(lane, change)
      .catch((error: unknown) => {
        if (!this.#stopped) this.#options.log.error({ error }, 'a change could not be replicated');
      })
      .finally(() => {
        lane.running.delete(nameOf(change));
        this.#running.delete(work);
        if (!this.#stopped) this.#fill(change.destination);
      });
    this.#running.add(work);
  }

  async #pass(lane: Lane, change: Change): Promise<void> {
    const bucket = this.#options.engine.catalogue.bucketById(change.bucket);
    if (!bucket) return this.#end(change, null);
    const rule = bucket.settings.replication;
    const { destinations, grants } = this.#options;
    const granted = grants.find(change.destination, bucket.account);
    if (!granted) return this.#giveUp(change, bucket, `there is no remote endpoint ${change.destination}`);
    const refusal = grants.refusalOf(granted, bucket.account, change.key);
    if (refusal !== undefined) return this.#giveUp(change, bucket, refusal);
    // The replication of the bucket was ended: nothing more of it is sent.
    if (rule?.enabled !== true || rule.destination !== change.destination) return this.#end(change, 'FAILED');
    const { destination, prefix } = granted;
    const marksReplicas = destination.type === 'OBJS_S3';
    const outcome = await destinations.place(destination).then(
      (place) => this.#send({ change, place, prefix, marksReplicas }),
      (error: unknown) => ({ kind: 'unreachable' as const, reason: reasonOf(error) }),
    );
    await this.#applyOutcome(lane, change, bucket, outcome);
  }

  /** A controller that is lost meanwhile says nothing about the endpoint. */
  #send(order: ReplicationOrder): Promise<ReplicationOutcome> {
    return this.#options.engine
      .replicate(order)
      .catch((error: unknown) => ({ kind: 'unreadable' as const, reason: reasonOf(error) }));
  }

  async #applyOutcome(lane: Lane, change: Change, bucket: Bucket, outcome: ReplicationOutcome): Promise<void> {
    const { clock, destinations, log } = this.#options;
    const now = clock.now();
    switch (outcome.kind) {
      case 'gone':
        return this.#end(change, null);
      case 'done':
        lane.succeeded();
        await this.#end(change, 'COMPLETED');
        await destinations.recordProblem(change.destination, null);
        if (this.#closed.delete(bucket.id)) await this.#recordEvent(bucket, 'notice', 'is replicated again');
        return;
      case 'unreachable':
        await this.#postpone(change, lane.failed(now));
        await destinations.recordProblem(change.destination, outcome.reason);
        return;
      case 'closed': {
        await this.#postpone(change, now + waitAfter(change.attempts, FIRST_WAIT_MS));
        if (this.#closed.has(bucket.id)) return;
        this.#closed.add(bucket.id);
        const what = `cannot be replicated to ${change.target} of ${change.destination}: ${outcome.reason}. It is tried again`;
        return this.#recordEvent(bucket, 'error', what);
      }
      case 'unreadable':
        if (!this.#stopped) log.warn({ bucket: bucket.id, reason: outcome.reason }, 'a change waits to be replicated');
        return this.#postpone(change, now + waitAfter(change.attempts, FIRST_WAIT_MS));
      case 'refused':
        lane.succeeded();
        return this.#giveUp(change, bucket, outcome.reason);
    }
  }

  async #giveUp(change: Change, bucket: Bucket, reason: string): Promise<void> {
    const now = this.#options.clock.now();
    await this.#end(change, 'FAILED');
    if (now - (this.#reportedAt.get(bucket.id) ?? -Infinity) < REPORT_AGAIN_MS) return;
    this.#reportedAt.set(bucket.id, now);
    await this.#recordEvent(bucket, 'error', `has objects that could not be replicated: ${reason}`);
  }

  async #end({ bucket, key, number }: Change, status: 'COMPLETED' | 'FAILED' | null): Promise<void> {
    const { commit, clock } = this.#options;
    await commit('endReplication', { bucket, key, number, status, at: clock.now() });
  }

  async #postpone({ bucket, key, number }: Change, until: number): Promise<void> {
    await this.#options.commit('postponeReplication', { bucket, key, number, until });
  }

  async #recordEvent({ name, account }: Bucket, severity: NewEvent['severity'] & string, what: string): Promise<void> {
    const { store, events } = this.#options;
    await store.write((tx) => {
      const title = `Container ${name} of account ${findAccount(tx, account)?.name ?? account} ${what}.`;
      events.record(tx, { severity, title, subject: `account:${account}` });
    });
  }

  #laneOf(destination: string): Lane {
    const lane = this.#lanes.get(destination) ?? new Lane(FIRST_WAIT_MS);
    this.#lanes.set(destination, lane);
    return lane;
  }
}

function nameOf({ bucket, key, number }: Change): string {
  return `${bucket} ${number} ${key}`;
}

function reasonOf(error: unknown): string {
  return error instanceof GranaryError ? error.message : connectionReason(error);
}
