import type { HostedArray } from '@granary/contract/cloud';
import { formatUtc, type JobOutcome, type JobTraits, type RunningJob, type Tx } from '@granary/kernel';
import { forgetOfArray } from '../accounts/repository.ts';
import { ClaimRefused } from '../clouds/claims.ts';
import type { Clouds } from '../clouds/service.ts';
import { interfacesOfArray, type Interfaces } from '../networks/index.ts';
import type { Tools } from '../tools.ts';
import { applyChange, describeChange, type Change } from './changes.ts';
import { Hosting, isTroubleOfCloud, NotYet, POLL_MS, withDrivesOf } from './hosting.ts';
import * as repository from './repository.ts';
import type { ArrayRow } from './repository.ts';
import { problemsOf } from './rules.ts';
import { startingMove, type ArrayStates } from './states.ts';

/** Work on an array that outlives the request: one job at a time for each array, in the order they were asked for. */
export type Work =
  'array.create' | 'array.hibernate' | 'array.restore' | 'array.delete' | 'array.purge' | 'array.change';

interface WorkArguments {
  readonly arrayId: number;
}

interface ChangeArguments extends WorkArguments {
  readonly change: Change;
}

type Act = (job: RunningJob<WorkArguments>, row: ArrayRow) => Promise<JobOutcome>;

/**
 * States a change is carried out in once it was accepted: what came after it waits behind it in the queue, and the
 * cloud may have taken it already. Only an array that is going away needs it no longer.
 */
const changeable = [
  'created',
  'starting',
  'hibernating',
  'restoring',
  'failed',
] as const satisfies readonly ArrayRow['status'][];

const CLOUD_RETRY_MS = 2000;
const LOST = 'Its cloud no longer has it';

interface Parts {
  readonly tools: Tools;
  readonly states: ArrayStates;
  readonly clouds: Clouds;
  readonly interfaces: Interfaces;
}

/**
 * Carries arrays from state to state by telling their cloud what they should be. Each step may run again after a
 * crash: the cloud is told the whole truth each time, and the record changes only when the cloud has done it.
 */
export class ArrayLifecycle {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { jobs } = parts.tools;
    const register = (work: Work, state: ArrayRow['status'], act: Act, traits: JobTraits = {}) => {
      const givenUp = (tx: Tx, { arrayId }: WorkArguments, reason: string) => {
        this.#fail(tx, parts.states.row(tx, arrayId), reason);
      };
      jobs.register<WorkArguments>(work, (job) => this.#work(job, [state], (row) => act(job, row)), givenUp, traits);
    };
    register('array.create', 'creating', (job, row) => this.#create(job, row));
    register('array.restore', 'restoring', (job, row) => this.#create(job, row));
    register('array.hibernate', 'hibernating', (job, row) => this.#hibernate(job, row));
    register('array.delete', 'deleting', (job, row) => this.#delete(job, row), { frees: true });
    jobs.register<WorkArguments>(
      'array.purge',
      (job) => this.#work(job, ['deleted'], (row) => this.#remove(job, row)),
      (tx, { arrayId }, reason) => {
        const { name } = parts.states.row(tx, arrayId);
        const title = `Array ${name} could not be purged: ${reason} An administrator can purge it again.`;
        parts.tools.events.record(tx, { title, subject: `array:${arrayId}`, severity: 'error' });
      },
      { frees: true },
    );
    jobs.register<ChangeArguments>(
      'array.change',
      (job) => {
        const { change } = job.arguments;
        return this.#work(
          job,
          changeable,
          (row) => this.#change(change, row),
          (tx) => {
            this.#giveBack(tx, change);
          },
        );
      },
      (tx, { arrayId, change }, reason) => {
        this.#undoChange(tx, parts.states.row(tx, arrayId), change, reason);
      },
    );
  }

  start(tx: Tx, work: Work, arrayId: number, more: Readonly<Record<string, unknown>> = {}): number {
    return this.#parts.tools.jobs.enqueue(tx, work, `array:${arrayId}`, { arrayId, ...more });
  }

  /** The frame of all work: is it still wanted, and what if the cloud does not answer or says no. */
  async #work(
    { arguments: { arrayId }, signal }: RunningJob<WorkArguments>,
    wanted: readonly ArrayRow['status'][],
    act: (row: ArrayRow) => Promise<JobOutcome>,
    tooLate: (tx: Tx) => void = () => undefined,
  ): Promise<JobOutcome> {
    const { tools, states, clouds } = this.#parts;
    const row = tools.store.read((db) => states.row(db, arrayId));
    if (!wanted.includes(row.status))
      return { outcome: 'failed', reason: `Array ${row.name} is ${row.status}.`, finish: tooLate };
    try {
      await clouds.claimed(row.cloud_id);
      return await act(row);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NotYet) return { outcome: 'retry', afterMs: POLL_MS, reason: error.message };
      if (!isTroubleOfCloud(error)) throw error;
      const refused = error instanceof ClaimRefused ? error.message : undefined;
      await this.#report(row, refused ?? 'its cloud does not answer; trying again', row.progress);
      return { outcome: 'retry', afterMs: CLOUD_RETRY_MS, reason: error.message };
    }
  }

  async #create({ signal }: RunningJob<WorkArguments>, row: ArrayRow): Promise<JobOutcome> {
    const { tools, states, interfaces } = this.#parts;
    const hosting = this.#hosting(row);
    await this.#report(row, row.status === 'creating' ? 'finding drives and an address' : 'asking its cloud', 10);
    const before = await hosting.get();
    if (!before && row.status !== 'creating') return this.#failed(row, LOST);
    const spec = withDrivesOf(before, row.spec);
    const placed = await hosting.put(spec, { desired: 'running' });
    if (typeof placed === 'string') return this.#failed(row, placed);
    await tools.store.write((tx) => {
      repository.setPlacement(tx, row.id, placed);
      states.touch(tx, row.id);
    });
    await this.#report(row, 'starting its process', 50);
    const hosted = await this.#untilStarted(row, hosting, signal);
    if (hosted?.state !== 'running' && hosted?.state !== 'starting')
      return this.#failed(row, hosted?.reason ?? 'the cloud lost it');
    return {
      outcome: 'done',
      finish: (tx) => {
        repository.setSpec(tx, row.id, spec);
        repository.setPlacement(tx, row.id, hosted);
        for (const { id } of interfacesOfArray(tx, row.id)) interfaces.attachInterface(tx, id);
        interfaces.recordBindings(tx, row.id, hosted.interfaces);
        if (hosted.state === 'starting') states.move(tx, row.id, startingMove(row, hosted));
        else {
          const event =
            row.status === 'creating' ? `Array ${row.name} was created.` : `Array ${row.name} is running again.`;
          states.move(tx, row.id, { status: 'created', progress: 100, event });
        }
      },
    };
  }

  /**
   * The array once its process runs or has failed. One that ran before and takes long is handed to the watcher as it is:
   * its cloud tries for as long as it is wanted, and its owner may stop or delete it meanwhile.
   */
  async #untilStarted(row: ArrayRow, hosting: Hosting, signal: AbortSignal): Promise<HostedArray | undefined> {
    let last: HostedArray | undefined;
    try {
      return await hosting.until(signal, (now) => {
        last = now;
        return now.state === 'running' || now.state === 'failed';
      });
    } catch (error) {
      if (!(error instanceof NotYet) || last?.state !== 'starting') throw error;
      if (row.status === 'restoring') return last;
      await this.#report(row, last.reason ?? 'starting its process', 50);
      throw error;
    }
  }

  async #hibernate({ signal }: RunningJob<WorkArguments>, row: ArrayRow): Promise<JobOutcome> {
    const { states, interfaces } = this.#parts;
    const hosting = this.#hosting(row);
    await this.#report(row, 'stopping its process', 20);
    const hosted = await hosting.get();
    if (!hosted) return this.#failed(row, LOST);
    const spec = withDrivesOf(hosted, row.spec);
    const told = await hosting.put(spec, { desired: 'stopped' });
    if (typeof told === 'string') return this.#failed(row, told);
    const stopped = await hosting.until(signal, ({ state }) => state === 'stopped');
    if (!stopped) return this.#failed(row, LOST);
    return {
      outcome: 'done',
      finish: (tx) => {
        repository.setSpec(tx, row.id, spec);
        interfaces.recordBindings(tx, row.id, stopped.interfaces);
        states.move(tx, row.id, { status: 'hibernated', progress: 100, event: `Array ${row.name} hibernates.` });
      },
    };
  }

  /** Stops it and keeps what it holds, where it can be undeleted; else removes it. */
  async #delete(job: RunningJob<WorkArguments>, row: ArrayRow): Promise<JobOutcome> {
    const { states, interfaces } = this.#parts;
    const hosting = this.#hosting(row);
    const hosted = row.purge_at === null ? undefined : await hosting.get();
    if (!hosted) return this.#remove(job, row);
    await this.#report(row, 'stopping its process', 20);
    const spec = withDrivesOf(hosted, row.spec);
    const told = await hosting.put(spec, { desired: 'stopped' });
    if (typeof told === 'string') return this.#failed(row, told);
    const stopped = await hosting.until(job.signal, ({ state }) => state === 'stopped');
    if (!stopped) return this.#remove(job, row);
    return {
      outcome: 'done',
      finish: (tx) => {
        repository.setSpec(tx, row.id, spec);
        interfaces.recordBindings(tx, row.id, stopped.interfaces);
        const until = row.purge_at === null ? '' : ` It can be undeleted until ${formatUtc(row.purge_at)}.`;
        const event = `Array ${row.name} was deleted.${until}`;
        states.move(tx, row.id, { status: 'deleted', progress: 100, event, severity: 'notice' });
      },
    };
  }

  /** Everything of it, for good. */
  async #remove({ signal }: RunningJob<WorkArguments>, row: ArrayRow): Promise<JobOutcome> {
    const { tools, states, interfaces } = this.#parts;
    const hosting = this.#hosting(row);
    if (row.status === 'deleting') await this.#report(row, 'removing its data and giving its drives back', 20);
    await hosting.remove(signal);
    return {
      outcome: 'done',
      finish: (tx) => {
        interfaces.releaseAllOfArray(tx, row.id);
        forgetOfArray(tx, row.id);
        repository.setPurged(tx, row.id, tools.clock.now());
        const event = `Array ${row.name} was ${row.status === 'deleting' ? 'deleted' : 'purged'}.`;
        if (row.status === 'deleting')
          states.move(tx, row.id, { status: 'deleted', progress: 100, event, severity: 'notice' });
        else tools.events.record(tx, { title: event, subject: `array:${row.id}`, severity: 'notice' });
        states.touch(tx, row.id);
      },
    };
  }

  async #change(change: Change, row: ArrayRow): Promise<JobOutcome> {
    const { tools, states, clouds, interfaces } = this.#parts;
    const hosting = this.#hosting(row);
    const before = await hosting.get();
    if (!before) return this.#failed(row, LOST);
    const spec = withDrivesOf(before, applyChange(row.spec, change));
    const problem = problemsOf(row.product, spec, await clouds.freshInventory(row.cloud_id))[0];
    const told = problem
      ? `${problem.field} ${problem.message}`
      : await hosting.put(spec, { without: leavingOut(change) });
    if (typeof told === 'string') {
      const reason = `${capitalised(describeChange(change))} failed: ${told}`;
      return { outcome: 'failed', reason, finish: (tx) => this.#undoChange(tx, row, change, reason) };
    }
    return {
      outcome: 'done',
      finish: (tx) => {
        repository.setSpec(tx, row.id, spec);
        repository.setPlacement(tx, row.id, told);
        repository.setStatusMessage(tx, row.id, null);
        if (change.type === 'attach_interface') interfaces.attachInterface(tx, change.interfaceId);
        if (change.type === 'detach_interfaces')
          for (const id of change.interfaceIds) interfaces.releaseInterface(tx, id);
        interfaces.recordBindings(tx, row.id, told.interfaces);
        states.touch(tx, row.id);
        tools.events.record(tx, {
          title: `Array ${row.name}: ${describeChange(change)} is done.`,
          subject: `array:${row.id}`,
        });
      },
    };
  }

  #undoChange(tx: Tx, row: ArrayRow, change: Change, reason: string): void {
    const { tools, states } = this.#parts;
    repository.setStatusMessage(tx, row.id, reason);
    this.#giveBack(tx, change);
    states.touch(tx, row.id);
    tools.events.record(tx, { severity: 'warning', title: `Array ${row.name}: ${reason}`, subject: `array:${row.id}` });
  }

  /** What was reserved for a change that is not made. */
  #giveBack(tx: Tx, change: Change): void {
    if (change.type === 'attach_interface') this.#parts.interfaces.releaseInterface(tx, change.interfaceId);
  }

  #failed(row: ArrayRow, reason: string): JobOutcome {
    return {
      outcome: 'failed',
      reason,
      finish: (tx) => {
        this.#fail(tx, row, reason);
      },
    };
  }

  #fail(tx: Tx, row: ArrayRow, reason: string): void {
    const { states, interfaces } = this.#parts;
    // Never placed, never to come back: it holds on to nothing.
    if (states.row(tx, row.id).nova_id === null) interfaces.releaseAllOfArray(tx, row.id);
    // A deletion that failed is over: the array is there, and may be deleted again.
    repository.setPurgeAt(tx, row.id, null);
    const event = `Array ${row.name} failed: ${reason}`;
    states.move(tx, row.id, { status: 'failed', message: reason, progress: 0, event, severity: 'error' });
  }

  async #report(row: ArrayRow, message: string, progress: number): Promise<void> {
    const { tools, states } = this.#parts;
    await tools.store.write((tx) => {
      repository.setProgress(tx, row.id, { status: row.status, message: capitalised(message), progress });
      states.touch(tx, row.id);
    });
  }

  #hosting(row: ArrayRow): Hosting {
    const { clouds, tools } = this.#parts;
    return new Hosting(clouds.link(row.cloud_id), row, tools);
  }
}

function leavingOut(change: Change): readonly number[] {
  return change.type === 'detach_interfaces' ? change.interfaceIds : [];
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
