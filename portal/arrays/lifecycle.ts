import type { HostedArray } from '@granary/contract/cloud';
import { formatUtc, type JobOutcome, type JobTraits, type RunningJob, type Tx } from '@granary/kernel';
import type { ArrayId } from '../ids.ts';
import { ClaimRefused } from '../clouds/claims.ts';
import type { CloudService } from '../clouds/service.ts';
import { interfacesOfArray, type InterfaceService } from '../networks/index.ts';
import type { Tools } from '../tools.ts';
import { applyChange, describeChange, type Change } from './changes.ts';
import { Hosting, isTroubleOfCloud, NotYet, POLL_MS, withDrivesOf } from './hosting.ts';
import * as repository from './repository.ts';
import type { PortalArray } from './array.ts';
import { deletePublicService } from './public-services/repository.ts';
import { OutageAccounting } from './outages.ts';
import { problemsOf } from './rules.ts';
import { startingMove, type ArrayStates } from './states.ts';

/** Work on an array that outlives the request: one job at a time for each array, in the order they were asked for. */
export type Work =
  'array.create' | 'array.hibernate' | 'array.restore' | 'array.delete' | 'array.purge' | 'array.change';

interface WorkArguments {
  readonly arrayId: ArrayId;
}

interface ChangeArguments extends WorkArguments {
  readonly change: Change;
}

type Act = (job: RunningJob<WorkArguments>, array: PortalArray) => Promise<JobOutcome>;

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
] as const satisfies readonly PortalArray['status'][];

const CLOUD_RETRY_MS = 2000;
const LOST = 'Its cloud no longer has it';

interface Parts {
  readonly tools: Tools;
  readonly states: ArrayStates;
  readonly clouds: CloudService;
  readonly interfaces: InterfaceService;
}

/**
 * Carries arrays from state to state by telling their cloud what they should be. Each step may run again after a
 * crash: the cloud gets the whole desired state each time, and the record changes only when the cloud has done it.
 */
export class ArrayLifecycle {
  readonly #parts: Parts;
  readonly #outages: OutageAccounting;
  readonly #dependents: ((tx: Tx, arrayId: ArrayId) => void)[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#outages = new OutageAccounting(parts.tools, parts.states);
    const { jobs } = parts.tools;
    const register = (work: Work, state: PortalArray['status'], act: Act, traits: JobTraits = {}) => {
      const givenUp = (tx: Tx, { arrayId }: WorkArguments, reason: string) => {
        this.#fail(tx, parts.states.existing(tx, arrayId), reason);
      };
      jobs.register<WorkArguments>(
        work,
        (job) => this.#work(job, [state], (array) => act(job, array)),
        givenUp,
        traits,
      );
    };
    register('array.create', 'creating', (job, array) => this.#create(job, array));
    register('array.restore', 'restoring', (job, array) => this.#create(job, array));
    register('array.hibernate', 'hibernating', (job, array) => this.#hibernate(job, array));
    register('array.delete', 'deleting', (job, array) => this.#delete(job, array), { frees: true });
    jobs.register<WorkArguments>(
      'array.purge',
      (job) => this.#work(job, ['deleted'], (array) => this.#remove(job, array)),
      (tx, { arrayId }, reason) => {
        const { name } = parts.states.existing(tx, arrayId);
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
          (array) => this.#change(job, array),
          (tx) => {
            this.#giveUp(tx, change);
          },
        );
      },
      (tx, { arrayId, change }, reason) => {
        this.#undoChange(tx, parts.states.existing(tx, arrayId), change, reason);
      },
    );
  }

  /** `remove` runs in the transaction that records the array as purged. */
  onPurge(remove: (tx: Tx, arrayId: ArrayId) => void): void {
    this.#dependents.push(remove);
  }

  start(tx: Tx, work: Work, arrayId: ArrayId, more: Readonly<Record<string, unknown>> = {}): number {
    return this.#parts.tools.jobs.enqueue(tx, work, `array:${arrayId}`, { arrayId, ...more });
  }

  /** The frame of all work: is it still wanted, and what if the cloud does not answer or says no. */
  async #work(
    { arguments: { arrayId }, signal }: RunningJob<WorkArguments>,
    wanted: readonly PortalArray['status'][],
    act: (array: PortalArray) => Promise<JobOutcome>,
    tooLate: (tx: Tx) => void = () => undefined,
  ): Promise<JobOutcome> {
    const { tools, states, clouds } = this.#parts;
    const array = tools.store.read((db) => states.existing(db, arrayId));
    if (!wanted.includes(array.status))
      return { outcome: 'failed', reason: `Array ${array.name} is ${array.status}.`, finish: tooLate };
    try {
      await clouds.claimed(array.cloudId);
      return await act(array);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NotYet) return { outcome: 'retry', afterMs: POLL_MS, reason: error.message };
      if (!isTroubleOfCloud(error)) throw error;
      const refused = error instanceof ClaimRefused ? error.message : undefined;
      await this.#report(array, refused ?? 'its cloud does not answer; trying again', array.progress);
      return { outcome: 'retry', afterMs: CLOUD_RETRY_MS, reason: error.message };
    }
  }

  async #create({ signal }: RunningJob<WorkArguments>, array: PortalArray): Promise<JobOutcome> {
    const { tools, states, interfaces } = this.#parts;
    const hosting = this.#hosting(array);
    await this.#report(array, array.status === 'creating' ? 'finding drives and an address' : 'asking its cloud', 10);
    const before = await hosting.get();
    if (!before && array.status !== 'creating') return this.#failed(array, LOST);
    const spec = withDrivesOf(before, array.spec);
    const placed = await hosting.put(spec, { desired: 'running' });
    if (typeof placed === 'string') return this.#failed(array, placed);
    await tools.store.write((tx) => {
      repository.setPlacement(tx, array.id, placed);
      states.touch(tx, array.id);
    });
    await this.#report(array, 'starting its process', 50);
    const hosted = await this.#untilStarted(array, hosting, signal);
    if (hosted?.state !== 'running' && hosted?.state !== 'starting')
      return this.#failed(array, hosted?.reason ?? 'the cloud lost it');
    const heardAt = tools.clock.now();
    return {
      outcome: 'done',
      finish: (tx) => {
        this.#outages.recordEncryption(tx, states.existing(tx, array.id), hosted, heardAt);
        repository.setSpec(tx, array.id, spec);
        repository.setPlacement(tx, array.id, hosted);
        for (const { id } of interfacesOfArray(tx, array.id)) interfaces.attachInterface(tx, id);
        interfaces.recordBindings(tx, array.id, hosted.interfaces);
        if (hosted.state === 'starting') states.move(tx, array.id, startingMove(array, hosted));
        else {
          const event =
            array.status === 'creating' ? `Array ${array.name} was created.` : `Array ${array.name} is running again.`;
          states.move(tx, array.id, { status: 'created', progress: 100, event });
        }
      },
    };
  }

  /**
   * The array once its process runs or has failed. One that ran before and takes long is handed to the watcher as it is:
   * its cloud tries for as long as it is wanted, and its owner may stop or delete it meanwhile.
   */
  async #untilStarted(array: PortalArray, hosting: Hosting, signal: AbortSignal): Promise<HostedArray | undefined> {
    let last: HostedArray | undefined;
    try {
      return await hosting.until(signal, (now) => {
        last = now;
        return now.state === 'running' || now.state === 'failed';
      });
    } catch (error) {
      if (!(error instanceof NotYet) || last?.state !== 'starting') throw error;
      if (array.status === 'restoring') return last;
      await this.#report(array, last.reason ?? 'starting its process', 50);
      throw error;
    }
  }

  async #hibernate({ signal }: RunningJob<WorkArguments>, array: PortalArray): Promise<JobOutcome> {
    const { tools, states, interfaces } = this.#parts;
    const hosting = this.#hosting(array);
    await this.#report(array, 'stopping its process', 20);
    const hosted = await hosting.get();
    if (!hosted) return this.#failed(array, LOST);
    const spec = withDrivesOf(hosted, array.spec);
    const sent = await hosting.put(spec, { desired: 'stopped' });
    if (typeof sent === 'string') return this.#failed(array, sent);
    const stopped = await hosting.until(signal, ({ state }) => state === 'stopped');
    if (!stopped) return this.#failed(array, LOST);
    const heardAt = tools.clock.now();
    return {
      outcome: 'done',
      finish: (tx) => {
        this.#outages.recordEncryption(tx, states.existing(tx, array.id), stopped, heardAt);
        repository.setSpec(tx, array.id, spec);
        interfaces.recordBindings(tx, array.id, stopped.interfaces);
        states.move(tx, array.id, { status: 'hibernated', progress: 100, event: `Array ${array.name} hibernates.` });
      },
    };
  }

  /** Stops it and keeps what it holds, where it can be undeleted; else removes it. */
  async #delete(job: RunningJob<WorkArguments>, array: PortalArray): Promise<JobOutcome> {
    const { states, interfaces } = this.#parts;
    const hosting = this.#hosting(array);
    const hosted = array.purgeAt === null ? undefined : await hosting.get();
    if (!hosted) return this.#remove(job, array);
    await this.#report(array, 'stopping its process', 20);
    const spec = withDrivesOf(hosted, array.spec);
    const sent = await hosting.put(spec, { desired: 'stopped' });
    if (typeof sent === 'string') return this.#failed(array, sent);
    const stopped = await hosting.until(job.signal, ({ state }) => state === 'stopped');
    if (!stopped) return this.#remove(job, array);
    return {
      outcome: 'done',
      finish: (tx) => {
        repository.setSpec(tx, array.id, spec);
        interfaces.recordBindings(tx, array.id, stopped.interfaces);
        const until = array.purgeAt === null ? '' : ` It can be undeleted until ${formatUtc(array.purgeAt)}.`;
        const event = `Array ${array.name} was deleted.${until}`;
        states.move(tx, array.id, { status: 'deleted', progress: 100, event, severity: 'notice' });
      },
    };
  }

  /** Everything of it, for good. */
  async #remove({ signal }: RunningJob<WorkArguments>, array: PortalArray): Promise<JobOutcome> {
    const { tools, states, interfaces } = this.#parts;
    const hosting = this.#hosting(array);
    if (array.status === 'deleting') await this.#report(array, 'removing its data and giving its drives back', 20);
    await hosting.remove(signal);
    return {
      outcome: 'done',
      finish: (tx) => {
        interfaces.releaseAllOfArray(tx, array.id);
        deletePublicService(tx, array.id);
        for (const remove of this.#dependents) remove(tx, array.id);
        repository.setPurged(tx, array.id, tools.clock.now());
        const event = `Array ${array.name} was ${array.status === 'deleting' ? 'deleted' : 'purged'}.`;
        if (array.status === 'deleting')
          states.move(tx, array.id, { status: 'deleted', progress: 100, event, severity: 'notice' });
        else tools.events.record(tx, { title: event, subject: `array:${array.id}`, severity: 'notice' });
        states.touch(tx, array.id);
      },
    };
  }

  /**
   * Another engine takes another process. One that does not come up is the array's trouble, not the change's: jobs that
   * could mend it wait behind this one.
   */
  async #untilReplaced(hosting: Hosting, signal: AbortSignal): Promise<void> {
    try {
      await hosting.until(signal, ({ state }) => state !== 'starting');
    } catch (error) {
      if (!(error instanceof NotYet)) throw error;
    }
  }

  async #change(
    { arguments: { change }, signal }: RunningJob<ChangeArguments>,
    array: PortalArray,
  ): Promise<JobOutcome> {
    const { tools, states, clouds, interfaces } = this.#parts;
    const hosting = this.#hosting(array);
    const before = await hosting.get();
    if (!before) return this.#failed(array, LOST);
    const spec = withDrivesOf(before, applyChange(array.spec, change));
    // What the cloud offers by now does not matter to an array that is only locked.
    const problem =
      change.type === 'lock_down'
        ? undefined
        : problemsOf(array.product, spec, await clouds.freshInventory(array.cloudId))[0];
    const sent = problem
      ? `${problem.field} ${problem.message}`
      : await hosting.put(spec, { without: leavingOut(change) });
    if (typeof sent === 'string') {
      const reason = `${capitalised(describeChange(change))} failed: ${sent}`;
      return { outcome: 'failed', reason, finish: (tx) => this.#undoChange(tx, array, change, reason) };
    }
    const heardAt = tools.clock.now();
    if (change.type === 'engine') await this.#untilReplaced(hosting, signal);
    return {
      outcome: 'done',
      finish: (tx) => {
        // By the engine it had.
        this.#outages.recordEncryption(tx, states.existing(tx, array.id), sent, heardAt);
        repository.setSpec(tx, array.id, spec);
        repository.setPlacement(tx, array.id, sent);
        repository.setStatusMessage(tx, array.id, null);
        if (change.type === 'attach_interface') interfaces.attachInterface(tx, change.interfaceId);
        if (change.type === 'detach_interfaces')
          for (const id of change.interfaceIds) interfaces.releaseInterface(tx, id);
        interfaces.recordBindings(tx, array.id, sent.interfaces);
        states.touch(tx, array.id);
        tools.events.record(tx, {
          title: `Array ${array.name}: ${describeChange(change)} is done.`,
          subject: `array:${array.id}`,
        });
      },
    };
  }

  #undoChange(tx: Tx, array: PortalArray, change: Change, reason: string): void {
    const { tools, states } = this.#parts;
    repository.setStatusMessage(tx, array.id, reason);
    if (change.type === 'lock_down') repository.setLockedDown(tx, array.id, !change.locked);
    this.#giveUp(tx, change);
    states.touch(tx, array.id);
    tools.events.record(tx, {
      severity: 'warning',
      title: `Array ${array.name}: ${reason}`,
      subject: `array:${array.id}`,
    });
  }

  /** What was reserved for a change that is not made. */
  #giveUp(tx: Tx, change: Change): void {
    if (change.type === 'attach_interface') this.#parts.interfaces.releaseInterface(tx, change.interfaceId);
  }

  #failed(array: PortalArray, reason: string): JobOutcome {
    return {
      outcome: 'failed',
      reason,
      finish: (tx) => {
        this.#fail(tx, array, reason);
      },
    };
  }

  #fail(tx: Tx, array: PortalArray, reason: string): void {
    const { states, interfaces } = this.#parts;
    // Never placed, never to come back: it holds on to nothing.
    if (states.existing(tx, array.id).numberInCloud === null) interfaces.releaseAllOfArray(tx, array.id);
    // A deletion that failed is over: the array is there, and may be deleted again.
    repository.setPurgeAt(tx, array.id, null);
    const event = `Array ${array.name} failed: ${reason}`;
    states.move(tx, array.id, { status: 'failed', message: reason, progress: 0, event, severity: 'error' });
  }

  async #report(array: PortalArray, message: string, progress: number): Promise<void> {
    const { tools, states } = this.#parts;
    await tools.store.write((tx) => {
      repository.setProgress(tx, array.id, { status: array.status, message: capitalised(message), progress });
      states.touch(tx, array.id);
    });
  }

  #hosting(array: PortalArray): Hosting {
    const { clouds, tools } = this.#parts;
    return new Hosting(clouds.link(array.cloudId), array, tools);
  }
}

function leavingOut(change: Change): readonly number[] {
  return change.type === 'detach_interfaces' ? change.interfaceIds : [];
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
