import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, ConnectionError, type CloudClient } from '@granary/client';
import type { ArraySpec, HostedArray } from '@granary/contract/cloud';
import { GranaryError, type Db, type JobOutcome, type RunningJob, type Tx } from '@granary/kernel';
import { forgetOfArray } from '../accounts/repository.ts';
import type { Clouds } from '../clouds/service.ts';
import { interfacesOfArray, type Interfaces } from '../networks/index.ts';
import type { Tools } from '../tools.ts';
import { applyChange, describeChange, type Change } from './changes.ts';
import * as repository from './repository.ts';
import type { ArrayRow } from './repository.ts';
import { problemsOf } from './rules.ts';
import type { ArrayStates } from './states.ts';

/** Work on an array that outlives the request: one job at a time for each array, in the order they were asked for. */
export type Work = 'array.create' | 'array.hibernate' | 'array.restore' | 'array.delete' | 'array.change';

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
const changeable = ['created', 'hibernating', 'restoring', 'failed'] as const satisfies readonly ArrayRow['status'][];

const POLL_MS = 100;
/** How long one run of a job looks at its cloud before it lets others have its place. */
const RUN_MS_MAX = 20_000;
const CLOUD_RETRY_MS = 2000;

/** What a cloud says no with; anything else it answers with passes. */
const REFUSALS: readonly number[] = [400, 409, 422];
const LOST = 'Its cloud no longer has it';

/** The work is not done, but this run of it has looked long enough. */
class NotYet extends Error {}

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
    const register = (work: Work, state: ArrayRow['status'], act: Act) => {
      const givenUp = (tx: Tx, { arrayId }: WorkArguments, reason: string) => {
        this.#fail(tx, parts.states.row(tx, arrayId), reason);
      };
      jobs.register<WorkArguments>(work, (job) => this.#work(job, [state], (row) => act(job, row)), givenUp);
    };
    register('array.create', 'creating', (job, row) => this.#create(job, row));
    register('array.restore', 'restoring', (job, row) => this.#create(job, row));
    register('array.hibernate', 'hibernating', (job, row) => this.#hibernate(job, row));
    register('array.delete', 'deleting', (job, row) => this.#delete(job, row));
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
    const { tools, states } = this.#parts;
    const row = tools.store.read((db) => states.row(db, arrayId));
    if (!wanted.includes(row.status))
      return { outcome: 'failed', reason: `Array ${row.name} is ${row.status}.`, finish: tooLate };
    try {
      return await act(row);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NotYet) return { outcome: 'retry', afterMs: POLL_MS, reason: error.message };
      if (!isTroubleOfCloud(error)) throw error;
      await this.#report(row, 'its cloud does not answer; trying again', row.progress);
      return { outcome: 'retry', afterMs: CLOUD_RETRY_MS, reason: error.message };
    }
  }

  async #create({ signal }: RunningJob<WorkArguments>, row: ArrayRow): Promise<JobOutcome> {
    const { tools, states, interfaces } = this.#parts;
    const link = this.#link(row);
    await this.#report(row, row.status === 'creating' ? 'finding drives and an address' : 'asking its cloud', 10);
    const before = await this.#hosted(link, row);
    if (!before && row.status !== 'creating') return this.#failed(row, LOST);
    const spec = withDrivesOf(before, row.spec);
    const placed = await this.#put(link, row, spec, 'running');
    if (typeof placed === 'string') return this.#failed(row, placed);
    await tools.store.write((tx) => {
      repository.setPlacement(tx, row.id, placed);
      states.touch(tx, row.id);
    });
    await this.#report(row, 'starting its process', 50);
    const hosted = await this.#until(link, row, signal, (now) => now.state === 'running' || now.state === 'failed');
    if (hosted?.state !== 'running') return this.#failed(row, hosted?.reason ?? 'the cloud lost it');
    return {
      outcome: 'done',
      finish: (tx) => {
        repository.setSpec(tx, row.id, spec);
        repository.setPlacement(tx, row.id, hosted);
        for (const { id } of interfacesOfArray(tx, row.id)) interfaces.attachInterface(tx, id);
        const event =
          row.status === 'creating' ? `Array ${row.name} was created.` : `Array ${row.name} is running again.`;
        states.move(tx, row.id, { status: 'created', progress: 100, event });
      },
    };
  }

  async #hibernate({ signal }: RunningJob<WorkArguments>, row: ArrayRow): Promise<JobOutcome> {
    const { states } = this.#parts;
    const link = this.#link(row);
    await this.#report(row, 'stopping its process', 20);
    const hosted = await this.#hosted(link, row);
    if (!hosted) return this.#failed(row, LOST);
    const spec = withDrivesOf(hosted, row.spec);
    const told = await this.#put(link, row, spec, 'stopped');
    if (typeof told === 'string') return this.#failed(row, told);
    if (!(await this.#until(link, row, signal, ({ state }) => state === 'stopped'))) return this.#failed(row, LOST);
    return {
      outcome: 'done',
      finish: (tx) => {
        repository.setSpec(tx, row.id, spec);
        states.move(tx, row.id, { status: 'hibernated', progress: 100, event: `Array ${row.name} hibernates.` });
      },
    };
  }

  async #delete({ signal }: RunningJob<WorkArguments>, row: ArrayRow): Promise<JobOutcome> {
    const { states, interfaces } = this.#parts;
    const link = this.#link(row);
    await this.#report(row, 'removing its data and giving its drives back', 20);
    // Asked again and again: the cloud answers with the array until it is gone.
    const end = performance.now() + RUN_MS_MAX;
    while ((await link.hostedArrays.delete({ uuid: row.uuid })).data) await pauseUntil(end, signal);
    return {
      outcome: 'done',
      finish: (tx) => {
        interfaces.releaseAllOfArray(tx, row.id);
        forgetOfArray(tx, row.id);
        states.move(tx, row.id, {
          status: 'deleted',
          progress: 100,
          event: `Array ${row.name} was deleted.`,
          severity: 'notice',
        });
      },
    };
  }

  async #change(change: Change, row: ArrayRow): Promise<JobOutcome> {
    const { tools, states, clouds, interfaces } = this.#parts;
    const link = this.#link(row);
    const before = await this.#hosted(link, row);
    if (!before) return this.#failed(row, LOST);
    const spec = withDrivesOf(before, applyChange(row.spec, change));
    const problem = problemsOf(row.product, spec, await clouds.freshInventory(row.cloud_id))[0];
    const told = problem
      ? `${problem.field} ${problem.message}`
      : await this.#put(link, row, spec, undefined, leavingOut(change));
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

  /** Tells the cloud what the array should be; text when the cloud refuses. */
  async #put(
    link: CloudClient,
    row: ArrayRow,
    kept: repository.KeptSpec,
    desired: 'running' | 'stopped' | undefined,
    without: readonly number[] = [],
  ): Promise<HostedArray | string> {
    const spec = this.#parts.tools.store.read((db) => this.#specOf(db, row, kept, without));
    try {
      return (await link.hostedArrays.put({ uuid: row.uuid, spec, ...(desired && { desired }) })).data;
    } catch (error) {
      // A refusal is final; anything else about the cloud is tried again.
      if (error instanceof ApiError && REFUSALS.includes(error.status)) return error.message;
      throw error instanceof ApiError ? new ConnectionError('the cloud', error) : error;
    }
  }

  #specOf(db: Db, row: ArrayRow, kept: repository.KeptSpec, without: readonly number[]): ArraySpec {
    const { vault } = this.#parts.tools;
    const interfaces = interfacesOfArray(db, row.id).filter(({ id }) => !without.includes(id));
    return {
      ...kept,
      product: row.product,
      name: row.name,
      owner: row.owner,
      initial_passcode: vault.unseal(row.initial_passcode_sealed),
      internal_key: vault.unseal(row.internal_key_sealed),
      interfaces: interfaces.map(({ id, address, netmask, gateway, vlan_id }) => ({
        id,
        address,
        netmask,
        gateway,
        vlan_id,
      })),
    };
  }

  /** Undefined when the cloud no longer has it. */
  async #until(
    link: CloudClient,
    row: ArrayRow,
    signal: AbortSignal,
    reached: (hosted: HostedArray) => boolean,
  ): Promise<HostedArray | undefined> {
    const end = performance.now() + RUN_MS_MAX;
    for (;;) {
      const hosted = await this.#hosted(link, row);
      if (!hosted || reached(hosted)) return hosted;
      await pauseUntil(end, signal);
    }
  }

  async #hosted(link: CloudClient, row: ArrayRow): Promise<HostedArray | undefined> {
    try {
      return (await link.hostedArrays.get({ uuid: row.uuid })).data;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
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

  #link(row: ArrayRow): CloudClient {
    return this.#parts.clouds.link(row.cloud_id);
  }
}

/** Silence, an error of its own, or a no to our key: all of them pass, and none is the array's fault. */
function isTroubleOfCloud(error: unknown): error is Error {
  if (error instanceof ConnectionError || error instanceof ApiError) return true;
  return error instanceof GranaryError && ['cloud_unreachable', 'cloud_refused'].includes(error.entry);
}

async function pauseUntil(end: number, signal: AbortSignal): Promise<void> {
  if (performance.now() > end) throw new NotYet('it takes its time');
  await sleep(POLL_MS, undefined, { signal });
}

/**
 * A specification with at least the drives the cloud says the array has: an answer that was lost on the way may have
 * left more there than the record knows, and drives are never taken from a living array.
 */
function withDrivesOf(hosted: HostedArray | undefined, spec: repository.KeptSpec): repository.KeptSpec {
  const drives: Record<string, number> = { ...spec.drives };
  for (const { type } of hosted?.drives ?? []) {
    const count = hosted?.drives.filter((drive) => drive.type === type).length ?? 0;
    drives[type] = Math.max(drives[type] ?? 0, count);
  }
  return { ...spec, drives };
}

function leavingOut(change: Change): readonly number[] {
  return change.type === 'detach_interfaces' ? change.interfaceIds : [];
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
