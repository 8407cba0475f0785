import { counted } from '@granary/contract';
import { fail, type Changes, type JobOutcome, type RunningJob } from '@granary/kernel';
import { policyIdOf } from '@granary/storage/object-store';
import { type KnownDrive, type ObjectDriveService } from '../drives/service.ts';
import { partOf } from '../engine/parts.ts';
import type { PolicyReport } from '../engine/report.ts';
import { recordChanged } from '../inventory/repository.ts';
import { recordPrice } from '../prices/repository.ts';
import type { ObjectsTools } from '../tools.ts';
import { CapacityForecast, type CapacityMode } from './capacity.ts';
import type { PolicyNotes } from './policy.ts';
import { findDefault, listPolicies, makeDefault, updatePolicy } from './repository.ts';

/** A policy with how it is now and what people said about it. */
export interface KnownPolicy {
  /** What paths name it by. */
  readonly name: string;
  readonly displayName: string;
  readonly typeName: string;
  readonly report: PolicyReport;
  readonly said: PolicyNotes | undefined;
  readonly isDefault: boolean;
  readonly mode: CapacityMode;
  /** Null while it does not grow. */
  readonly fullInMin: number | null;
  readonly reportedAt: number;
}

interface Removal {
  readonly policy: string;
  readonly uuids: readonly string[];
  readonly actor: string;
}

const REMOVE_DRIVES = 'remove-drives';
const WATCH_MS = 5_000;

export class PolicyService {
  readonly #tools: ObjectsTools;
  readonly #drives: ObjectDriveService;
  readonly #forecast = new CapacityForecast();
  #full: readonly number[] = [];
  #watching: NodeJS.Timeout | undefined;

  constructor(tools: ObjectsTools, drives: ObjectDriveService) {
    this.#tools = tools;
    this.#drives = drives;
    tools.jobs.register<Removal, null>(
      REMOVE_DRIVES,
      (job) => this.#removeDrives(job),
      (tx, { policy }, reason) => {
        const title = `Drives could not be removed from storage policy ${policy}: ${reason}`;
        tools.events.record(tx, { severity: 'error', title, subject: `policy:${policy}` });
      },
    );
  }

  /** Polls capacity, so that a policy that fills up is reported without a request. */
  start(): void {
    this.#watching = setInterval(() => void this.#watch(), WATCH_MS);
    this.#watching.unref();
  }

  stop(): void {
    clearInterval(this.#watching);
  }

  /** Policies that take nothing new because they are nearly full. */
  get full(): readonly number[] {
    return this.#full;
  }

  /** Null until one was chosen: the engine then uses the first. */
  defaultName(): string | null {
    return this.#tools.store.read(findDefault) ?? null;
  }

  list(): KnownPolicy[] {
    const { engine, store, configuration, clock } = this.#tools;
    const notes = new Map(store.read(listPolicies).map((one) => [one.name, one]));
    const { policies, at, defaultPolicy } = engine.report();
    return policies.map((report) => ({
      name: policyIdOf(report.policy.index),
      displayName: report.policy.name,
      typeName: configuration().policies.find(({ name }) => name === report.policy.name)?.typeName ?? '',
      report,
      said: notes.get(report.policy.name),
      isDefault: report.policy.index === defaultPolicy,
      mode: this.#forecast.modeOf(report, clock.now()),
      fullInMin: this.#forecast.fullInMin(report, clock.now()),
      reportedAt: at,
    }));
  }

  /** By its name in paths, or the name the portal gave it. */
  get(id: string): KnownPolicy {
    const policies = this.list();
    const found =
      policies.find(({ displayName }) => displayName === id) ??
      policies.find(({ name, displayName }) => [name, displayName.toLowerCase()].includes(id.toLowerCase()));
    if (!found) throw fail('objs_policy_not_found', { id });
    return found;
  }

  drivesOf({ displayName }: KnownPolicy): KnownDrive[] {
    return this.#drives.list().filter(({ policy }) => policy === displayName);
  }

  async update(id: string, changes: Changes<Pick<PolicyNotes, 'description' | 'monthCost'>>, actor: string) {
    const { store, clock, events } = this.#tools;
    const { displayName } = this.get(id);
    await store.write((tx) => {
      updatePolicy(tx, displayName, changes);
      if (changes.monthCost !== undefined) recordPrice(tx, `policy:${displayName}`, changes.monthCost, clock.now());
      recordChanged(tx, 'policy', displayName, clock.now());
      const title = `Storage policy ${displayName} was described or priced anew.`;
      events.record(tx, { severity: 'notice', title, subject: `policy:${displayName}`, actor });
    });
  }

  /** What new containers get, from the next one on. */
  async setDefault(id: string, actor: string): Promise<string> {
    const { store, clock, events, engine } = this.#tools;
    const { displayName, name, report } = this.get(id);
    if (!report.isUsable) throw fail('policy_unusable', { policy: displayName });
    await store.write((tx) => {
      makeDefault(tx, displayName);
      recordChanged(tx, 'policy', displayName, clock.now());
      const title = `New containers get storage policy ${displayName}.`;
      events.record(tx, { severity: 'notice', title, subject: `policy:${displayName}`, actor });
    });
    await engine.reconfigure();
    return name;
  }

  /** Returns the job that moves their data away and gives them back. */
  async removeDrives(
    id: string,
    wanted: readonly { type: string; quantity: number }[],
    actor: string,
  ): Promise<number> {
    const { engine, store, jobs } = this.#tools;
    partOf(engine, 'drives');
    const policy = this.get(id);
    const { displayName } = policy;
    return store.write((tx) => {
      const subject = `policy:${displayName}`;
      if (jobs.isBusy(tx, subject)) {
        throw fail('policy_drives_leaving', { policy: displayName });
      }
      const uuids = this.#choose(policy, wanted);
      return jobs.enqueue(tx, REMOVE_DRIVES, subject, { policy: displayName, uuids, actor });
    });
  }

  /** The emptiest go: least has to be moved. */
  #choose(policy: KnownPolicy, wanted: readonly { type: string; quantity: number }[]): string[] {
    const drives = this.drivesOf(policy);
    const quantities = new Map<string, number>();
    for (const { type, quantity } of wanted) quantities.set(type, (quantities.get(type) ?? 0) + quantity);
    const chosen = [...quantities].flatMap(([type, quantity]) => {
      const ofType = drives.filter(({ drive }) => drive.type === type);
      if (ofType.length < quantity) {
        throw fail('policy_lacks_drives', { policy: policy.displayName, count: ofType.length, type, wanted: quantity });
      }
      const used = ({ report }: KnownDrive) => report?.usedBytes ?? 0;
      return ofType.toSorted((a, b) => used(a) - used(b)).slice(0, quantity);
    });
    const { copies, dataFragments, parityFragments } = policy.report.policy;
    const needed = copies + dataFragments + parityFragments;
    if (drives.length - chosen.length < needed) {
      throw fail('policy_needs_drives', { policy: policy.displayName, needed, left: drives.length - chosen.length });
    }
    return chosen.map(({ drive }) => drive.uuid);
  }

  async #removeDrives(job: RunningJob<Removal, null>): Promise<JobOutcome> {
    const { engine, events, returnDrive, configuration } = this.#tools;
    const { policy, uuids, actor } = job.arguments;
    const present = () => uuids.filter((uuid) => configuration().drives.some((drive) => drive.uuid === uuid));
    await partOf(engine, 'drives').remove(policy, present(), (done) => this.#saveProgress(job, done), job.signal);
    for (const uuid of present()) await returnDrive(uuid);
    return {
      outcome: 'done',
      finish: (tx) => {
        const title = `${counted(uuids.length, 'drives')} left storage policy ${policy} and ${uuids.length === 1 ? 'was' : 'were'} given back.`;
        events.record(tx, { severity: 'notice', title, subject: `policy:${policy}`, actor });
      },
    };
  }

  /** Progress that cannot be saved, on a full disk for example, is no reason to stop. */
  #saveProgress(job: RunningJob<Removal, null>, done: number): void {
    job.save(Math.floor(done * 99), 'Its data is being moved.', null).catch((error: unknown) => {
      this.#tools.log.warn({ error, job: job.id }, 'the progress of a removal could not be saved');
    });
  }

  async #watch(): Promise<void> {
    const { engine, clock, log } = this.#tools;
    const { policies } = engine.report();
    this.#forecast.sample(policies, clock.now());
    const full = policies.filter((report) => this.#forecast.modeOf(report, clock.now()) === 'emergency');
    const indexes = full.map(({ policy }) => policy.index);
    if (indexes.join() === this.#full.join()) return;
    this.#full = indexes;
    try {
      await engine.applySettings();
      await this.#recordFull(full);
    } catch (error) {
      log.error({ error }, 'the data path could not be updated with the full policies');
    }
  }

  async #recordFull(full: readonly PolicyReport[]): Promise<void> {
    const { store, events } = this.#tools;
    await store.write((tx) => {
      for (const { policy } of full) {
        const title = `Storage policy ${policy.name} is full and takes nothing new; add drives or delete objects.`;
        events.record(tx, { severity: 'error', title, subject: `policy:${policy.name}` });
      }
    });
  }
}
