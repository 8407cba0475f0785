import { badParameter, fail, type Tx } from '@granary/kernel';
import { recordCreator } from '../creators/repository.ts';
import { nextName } from '../sequences/repository.ts';
import { findBeyond } from '../snapshots/repository.ts';
import type { Snapshots } from '../snapshots/service.ts';
import type { ArrayTools } from '../tools.ts';
import type { VolumeRow } from '../volumes/repository.ts';
import { checkNoDestination } from '../volumes/rules.ts';
import type { Volumes } from '../volumes/service.ts';
import {
  countPolicies,
  findDefaults,
  findPolicy,
  findRule,
  hadPolicies,
  insertPolicy,
  insertRule,
  isPolicyNameTaken,
  listAttached,
  listPolicies,
  markRunOfPolicy,
  pauseRule,
  removePolicy,
  removeRule,
  updatePolicy,
  type AttachedPolicy,
  type PolicyInUse,
  type PolicyRow,
  type RuleApplication,
  type RuleRow,
} from './repository.ts';
import { PolicyRuns } from './runs.ts';
import { checkExpression } from './schedule.ts';
import { Scheduler } from './scheduler.ts';

export interface PolicyRequest {
  readonly displayName: string;
  readonly createPolicy: string;
  /** `N24`, or nothing to keep all. */
  readonly deletePolicy?: string | undefined;
  readonly destinationPolicy?: string | undefined;
  readonly createEmpty: boolean;
}

/** What is not there stays as it is. */
export type PolicyChange = { readonly [K in keyof PolicyRequest]?: PolicyRequest[K] | undefined };

interface NewRule {
  readonly policy: string;
  readonly volume: string;
  readonly application: RuleApplication;
  readonly mirrorJob?: string;
}

const POLICIES_MAX = 500;
const RULES_OF_VOLUME_MAX = 32;
const KEEP_MAX = 10_000;
const FIRST = [
  { display_name: 'Hourly for a Day', create_policy: '0 * * * *', keep: 24 },
  { display_name: 'Daily for a Week', create_policy: '0 0 * * *', keep: 7 },
  { display_name: 'Weekly for a Year', create_policy: '0 0 * * 0', keep: 53 },
];

/** Policies say when to take snapshots and how many to keep; rules tie them to volumes. */
export class SnapshotPolicies {
  readonly scheduler: Scheduler;
  readonly #tools: ArrayTools;
  readonly #volumes: Volumes;
  readonly #snapshots: Snapshots;
  readonly #runs: PolicyRuns;

  constructor(tools: ArrayTools, volumes: Volumes, snapshots: Snapshots) {
    this.#tools = tools;
    this.#volumes = volumes;
    this.#snapshots = snapshots;
    this.#runs = new PolicyRuns(tools, volumes, snapshots);
    this.scheduler = new Scheduler(tools, (due, at) => this.#runs.run(due, at));
  }

  /** At the first start: the policies every array comes with. */
  async createFirst(): Promise<void> {
    const { store, clock } = this.#tools;
    if (store.read(hadPolicies)) return;
    await store.write((tx) => {
      const now = clock.now();
      for (const first of FIRST) {
        insertPolicy(tx, {
          ...first,
          name: nextName(tx, 'policy'),
          keep_at_destination: first.keep,
          create_empty: 0,
          is_default: 1,
          created_at: now,
          modified_at: now,
        });
      }
    });
  }

  list(start: number, limit: number): { policies: PolicyInUse[]; count: number } {
    return this.#tools.store.read((db) => listPolicies(db, start, limit));
  }

  listOfGroup(cgName: string, start: number, limit: number): { policies: AttachedPolicy[]; count: number } {
    const { name } = this.#volumes.byGroup(cgName);
    return this.#tools.store.read((db) => listAttached(db, name, start, limit));
  }

  /** Not found: `policy_not_found`. */
  get(name: string): PolicyInUse {
    const policy = this.#tools.store.read((db) => findPolicy(db, name));
    if (!policy) throw fail('policy_not_found', { id: name });
    return policy;
  }

  async create(wanted: PolicyRequest, actor: string): Promise<PolicyInUse> {
    const { store, clock } = this.#tools;
    const checked = {
      display_name: wanted.displayName,
      create_policy: checkExpression('create_policy', wanted.createPolicy),
      keep: keepOf('delete_policy', wanted.deletePolicy),
      keep_at_destination: keepOf('destination_policy', wanted.destinationPolicy),
      create_empty: wanted.createEmpty ? 1 : 0,
    };
    return store.write((tx) => {
      if (isPolicyNameTaken(tx, checked.display_name)) throw fail('name_taken', { name: checked.display_name });
      if (countPolicies(tx) >= POLICIES_MAX) {
        throw fail('limit_reached', { problem: `An array has at most ${POLICIES_MAX} snapshot policies.` });
      }
      const now = clock.now();
      const row = { ...checked, name: nextName(tx, 'policy'), is_default: 0, created_at: now, modified_at: now };
      insertPolicy(tx, row);
      recordCreator(tx, 'snapshot_policies', row.name, actor);
      this.#tell(tx, row, 'was created', actor);
      return this.get(row.name);
    });
  }

  async update(name: string, change: PolicyChange, actor: string): Promise<PolicyInUse> {
    const { store, clock } = this.#tools;
    const before = this.get(name);
    const expression =
      change.createPolicy === undefined ? undefined : checkExpression('create_policy', change.createPolicy);
    const keep = change.deletePolicy === undefined ? undefined : keepOf('delete_policy', change.deletePolicy);
    const keepThere =
      change.destinationPolicy === undefined ? undefined : keepOf('destination_policy', change.destinationPolicy);
    const row = await store.write((tx) => {
      const now = clock.now();
      const present = this.get(name);
      const next: PolicyRow = {
        ...present,
        display_name: change.displayName ?? present.display_name,
        create_policy: expression ?? present.create_policy,
        keep: keep === undefined ? present.keep : keep,
        keep_at_destination: keepThere === undefined ? present.keep_at_destination : keepThere,
        create_empty: change.createEmpty === undefined ? present.create_empty : Number(change.createEmpty),
        modified_at: now,
      };
      if (next.display_name !== present.display_name && isPolicyNameTaken(tx, next.display_name)) {
        throw fail('name_taken', { name: next.display_name });
      }
      updatePolicy(tx, next);
      // Times that would have been due had it always been so are not made up for.
      if (next.create_policy !== present.create_policy) markRunOfPolicy(tx, name, now);
      this.#tell(tx, before, `was changed: ${describe(next)}`, actor);
      return this.get(name);
    });
    this.scheduler.wake();
    return row;
  }

  async delete(name: string, actor: string): Promise<void> {
    await this.#tools.store.write((tx) => {
      const policy = this.get(name);
      if (policy.rules > 0) {
        const problem = `Policy ${name} is attached to ${policy.rules} volumes; detach it first.`;
        throw fail('state_conflict', { problem });
      }
      removePolicy(tx, name);
      this.#tell(tx, policy, 'was deleted', actor);
    });
  }

  /** Returns the rule that ties them. */
  async attach(
    volumeName: string,
    policy: string,
    application: 'user' | 'file_history',
    actor: string,
  ): Promise<string> {
    const volume = application === 'file_history' ? this.#volumes.getShare(volumeName) : this.#volumes.get(volumeName);
    const rule = await this.#tools.store.write((tx) =>
      this.attachIn(tx, { policy, volume: volume.name, application }, actor),
    );
    // The history of files begins with what they are now.
    if (application === 'file_history')
      await this.#runs.run([{ ...this.#rule(rule), of: this.get(policy) }], this.#tools.clock.now());
    this.scheduler.wake();
    return rule;
  }

  /** Those a new volume gets when it asks for the default policies. */
  async attachDefaults(volume: VolumeRow, actor: string): Promise<void> {
    await this.#tools.store.write((tx) => {
      for (const { name } of findDefaults(tx)) {
        this.attachIn(tx, { policy: name, volume: volume.name, application: 'user' }, actor);
      }
    });
    this.scheduler.wake();
  }

  /** In the transaction of whatever needs it. Wake the scheduler afterwards. */
  attachIn(tx: Tx, { policy: policyName, volume: volumeName, application, mirrorJob }: NewRule, actor: string): string {
    const policy = this.get(policyName);
    const volume = this.#volumes.get(volumeName);
    if (volume.state === 'deleting') throw fail('volume_not_found', { id: volumeName });
    checkNoDestination(volume);
    const attached = listAttached(tx, volumeName).policies;
    if (attached.some((other) => isSameRule(other, policyName, application, mirrorJob))) {
      const problem = `Policy ${policyName} is attached to ${volumeName} already.`;
      throw fail('state_conflict', { problem });
    }
    if (attached.length >= RULES_OF_VOLUME_MAX) {
      const problem = `Volume ${volumeName} has ${RULES_OF_VOLUME_MAX} policies, as many as there can be.`;
      throw fail('limit_reached', { problem });
    }
    const now = this.#tools.clock.now();
    const rule: RuleRow = {
      name: nextName(tx, 'rule'),
      policy: policyName,
      volume: volumeName,
      application,
      mirror_job: mirrorJob ?? null,
      is_paused: 0,
      last_run_at: now,
      created_at: now,
      modified_at: now,
    };
    insertRule(tx, rule);
    this.#tellOfRule(tx, rule, policy, 'was attached to', actor);
    return rule.name;
  }

  async detach(volumeName: string, ruleName: string, deleteSnapshots: boolean, actor: string): Promise<void> {
    const { store } = this.#tools;
    this.#volumes.get(volumeName);
    const rule = this.#rule(ruleName);
    if (rule.volume !== volumeName) throw fail('policy_not_found', { id: ruleName });
    refuseMirrors(rule);
    const taken = () => store.read((db) => findBeyond(db, ruleName, 0));
    // Before, so that a failure leaves the rule to try again with; and after, for one taken in between.
    if (deleteSnapshots) await this.#snapshots.deleteUnneeded(taken(), actor);
    await store.write((tx) => {
      const present = this.#rule(ruleName);
      removeRule(tx, ruleName);
      this.#tellOfRule(tx, present, this.get(present.policy), 'was detached from', actor);
    });
    if (deleteSnapshots) await this.#snapshots.deleteUnneeded(taken(), actor);
  }

  async setPaused(ruleName: string, isPaused: boolean, actor: string): Promise<void> {
    const { store, clock } = this.#tools;
    await store.write((tx) => {
      const rule = this.#rule(ruleName);
      refuseMirrors(rule);
      if ((rule.is_paused === 1) === isPaused) {
        throw fail('state_conflict', { problem: `Rule ${ruleName} is ${isPaused ? 'paused already' : 'not paused'}.` });
      }
      pauseRule(tx, ruleName, isPaused, clock.now());
      const policy = this.get(rule.policy);
      this.#tellOfRule(tx, rule, policy, isPaused ? 'was paused for' : 'was resumed for', actor);
    });
    this.scheduler.wake();
  }

  #rule(name: string): RuleRow {
    const rule = this.#tools.store.read((db) => findRule(db, name));
    if (!rule) throw fail('policy_not_found', { id: name });
    return rule;
  }

  #tell(tx: Tx, { display_name, name }: PolicyRow, what: string, actor: string): void {
    const title = `Snapshot policy ${display_name} (${name}) ${what}.`;
    this.#tools.events.record(tx, { title, subject: `snapshot_policy:${name}`, actor });
  }

  #tellOfRule(tx: Tx, rule: RuleRow, policy: PolicyRow, what: string, actor: string): void {
    const title = `Snapshot policy ${policy.display_name} (${policy.name}) ${what} volume ${rule.volume} as ${rule.name}.`;
    this.#tools.events.record(tx, { title, subject: `volume:${rule.volume}`, actor });
  }
}

/** Each mirror has a rule of its own. */
function isSameRule(other: AttachedPolicy, policy: string, application: RuleApplication, mirrorJob?: string): boolean {
  return other.name === policy && other.application === application && other.mirror_job === (mirrorJob ?? null);
}

function refuseMirrors({ name, mirror_job }: RuleRow): void {
  if (mirror_job === null) return;
  const problem = `Rule ${name} belongs to mirror job ${mirror_job}; pause or break the mirror instead.`;
  throw fail('state_conflict', { problem });
}

function keepOf(field: string, text: string | undefined): number | null {
  if (text === undefined || text === '') return null;
  const keep = Number(text.slice(1));
  if (keep >= 1 && keep <= KEEP_MAX) return keep;
  throw badParameter(field, `must keep between N1 and N${KEEP_MAX}, or be empty to keep all`);
}

function describe({ create_policy, keep, create_empty }: PolicyRow): string {
  const when = create_policy === 'manual' ? 'by hand' : `at ${create_policy}`;
  return `${when}, keeps ${keep ?? 'all'}, ${create_empty === 1 ? 'also' : 'not'} when nothing changed`;
}
