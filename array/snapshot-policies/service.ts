import { badParameter, fail, type Db, type Page, type Tx } from '@granary/kernel';
import { isSequenceUsed, nextName } from '../sequences/repository.ts';
import { findBeyond } from '../snapshots/repository.ts';
import type { SnapshotService } from '../snapshots/service.ts';
import type { ArrayTools } from '../tools.ts';
import { findUserId } from '../users/repository.ts';
import { findVolume } from '../volumes/repository.ts';
import { checkNoDestination } from '../volumes/rules.ts';
import type { VolumeService } from '../volumes/service.ts';
import {
  countPolicies,
  findDefaults,
  findPolicy,
  findRule,
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
} from './repository.ts';
import type { AttachedPolicy, PolicyInUse, SnapshotPolicy, RuleApplication, SnapshotRule } from './policy.ts';
import { PolicyRuns } from './runs.ts';
import { checkExpression } from './schedule.ts';
import { SnapshotScheduler } from './scheduler.ts';

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
  { displayName: 'Hourly for a Day', schedule: '0 * * * *', keep: 24 },
  { displayName: 'Daily for a Week', schedule: '0 0 * * *', keep: 7 },
  { displayName: 'Weekly for a Year', schedule: '0 0 * * 0', keep: 53 },
];

/** Policies say when to take snapshots and how many to keep; rules tie them to volumes. */
export class SnapshotPolicyService {
  readonly scheduler: SnapshotScheduler;
  readonly #tools: ArrayTools;
  readonly #volumes: VolumeService;
  readonly #snapshots: SnapshotService;
  readonly #runs: PolicyRuns;

  constructor(tools: ArrayTools, volumes: VolumeService, snapshots: SnapshotService) {
    this.#tools = tools;
    this.#volumes = volumes;
    this.#snapshots = snapshots;
    this.#runs = new PolicyRuns(tools, volumes, snapshots);
    this.scheduler = new SnapshotScheduler(tools, (due, at) => this.#runs.run(due, at));
  }

  /** No start has got as far as to make the policies every array comes with. */
  get isFirstStart(): boolean {
    return !this.#tools.store.read((db) => isSequenceUsed(db, 'policy'));
  }

  /** At the first start: the policies every array comes with. */
  async createFirst(): Promise<void> {
    const { store, clock } = this.#tools;
    if (!this.isFirstStart) return;
    await store.write((tx) => {
      const now = clock.now();
      for (const first of FIRST) {
        insertPolicy(tx, {
          ...first,
          name: nextName(tx, 'policy'),
          keepAtDestination: first.keep,
          createsEmpty: false,
          isDefault: true,
          createdBy: null,
          createdAt: now,
          modifiedAt: now,
        });
      }
    });
  }

  list(page: Page): { policies: PolicyInUse[]; count: number } {
    return this.#tools.store.read((db) => listPolicies(db, page));
  }

  listOfGroup(cgName: string, page: Page): { policies: AttachedPolicy[]; count: number } {
    const { name } = this.#volumes.byGroup(cgName);
    return this.#tools.store.read((db) => listAttached(db, name, page));
  }

  /** Not found: `policy_not_found`. */
  get(name: string): PolicyInUse {
    return this.#tools.store.read((db) => this.#find(db, name));
  }

  #find(db: Db, name: string): PolicyInUse {
    const policy = findPolicy(db, name);
    if (!policy) throw fail('policy_not_found', { id: name });
    return policy;
  }

  async create(wanted: PolicyRequest, actor: string): Promise<PolicyInUse> {
    const { store, clock } = this.#tools;
    const checked = {
      displayName: wanted.displayName,
      schedule: checkExpression('create_policy', wanted.createPolicy),
      keep: keepOf('delete_policy', wanted.deletePolicy),
      keepAtDestination: keepOf('destination_policy', wanted.destinationPolicy),
      createsEmpty: wanted.createEmpty,
    };
    return store.write((tx) => {
      if (isPolicyNameTaken(tx, checked.displayName)) throw fail('name_taken', { name: checked.displayName });
      if (countPolicies(tx) >= POLICIES_MAX) {
        throw fail('snapshot_policies_limit', { max: POLICIES_MAX });
      }
      const now = clock.now();
      const name = nextName(tx, 'policy');
      const createdBy = findUserId(tx, actor);
      const policy = { ...checked, name, isDefault: false, createdBy, createdAt: now, modifiedAt: now };
      insertPolicy(tx, policy);
      this.#recordEvent(tx, policy, 'was created', actor);
      return { ...policy, rules: 0, pausedRules: 0 };
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
    const changed = await store.write((tx) => {
      const now = clock.now();
      const { rules, pausedRules, ...present } = this.#find(tx, name);
      const next: SnapshotPolicy = {
        ...present,
        displayName: change.displayName ?? present.displayName,
        schedule: expression ?? present.schedule,
        keep: keep === undefined ? present.keep : keep,
        keepAtDestination: keepThere === undefined ? present.keepAtDestination : keepThere,
        createsEmpty: change.createEmpty ?? present.createsEmpty,
        modifiedAt: now,
      };
      if (next.displayName !== present.displayName && isPolicyNameTaken(tx, next.displayName)) {
        throw fail('name_taken', { name: next.displayName });
      }
      updatePolicy(tx, next);
      // Times that would have been due had it always been so are not made up for.
      if (next.schedule !== present.schedule) markRunOfPolicy(tx, name, now);
      this.#recordEvent(tx, before, `was changed: ${describe(next)}`, actor);
      return { ...next, rules, pausedRules };
    });
    this.scheduler.wake();
    return changed;
  }

  async delete(name: string, actor: string): Promise<void> {
    await this.#tools.store.write((tx) => {
      const policy = this.#find(tx, name);
      if (policy.rules > 0) {
        throw fail('snapshot_policy_attached', { policy: name, count: policy.rules });
      }
      removePolicy(tx, name);
      this.#recordEvent(tx, policy, 'was deleted', actor);
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
      await this.#runs.run(
        [this.#tools.store.read((db) => ({ ...this.#rule(db, rule), of: this.#find(db, policy) }))],
        this.#tools.clock.now(),
      );
    this.scheduler.wake();
    return rule;
  }

  /** Those a new volume gets when it asks for the default policies. */
  attachDefaultsIn(tx: Tx, volume: string, actor: string): void {
    for (const { name } of findDefaults(tx)) this.attachIn(tx, { policy: name, volume, application: 'user' }, actor);
    tx.afterCommit(() => this.scheduler.wake());
  }

  /** In the transaction of whatever needs it. Wake the scheduler afterwards. */
  attachIn(tx: Tx, { policy: policyName, volume: volumeName, application, mirrorJob }: NewRule, actor: string): string {
    const policy = this.#find(tx, policyName);
    const volume = findVolume(tx, volumeName);
    if (!volume || volume.state === 'deleting') throw fail('volume_not_found', { id: volumeName });
    checkNoDestination(volume);
    const attached = listAttached(tx, volumeName).policies;
    if (attached.some((other) => isSameRule(other, policyName, application, mirrorJob))) {
      throw fail('policy_attached_already', { policy: policyName, to: volumeName });
    }
    if (attached.length >= RULES_OF_VOLUME_MAX) {
      throw fail('policies_of_volume_limit', { volume: volumeName, max: RULES_OF_VOLUME_MAX });
    }
    const now = this.#tools.clock.now();
    const rule: SnapshotRule = {
      name: nextName(tx, 'rule'),
      policy: policy.name,
      volume: volume.name,
      application,
      mirrorJob: mirrorJob ?? null,
      isPaused: false,
      lastRunAt: now,
      createdAt: now,
      modifiedAt: now,
    };
    insertRule(tx, rule);
    this.#recordRuleEvent(tx, rule, policy, 'was attached to', actor);
    return rule.name;
  }

  /** With its snapshots: refused while one of them is in use; by force, those in use stay. */
  async detach(volumeName: string, ruleName: string, { deletesSnapshots, isForced }: Detaching, actor: string) {
    const { store } = this.#tools;
    this.#volumes.get(volumeName);
    const rule = store.read((db) => this.#rule(db, ruleName));
    if (rule.volume !== volumeName) throw fail('policy_not_found', { id: ruleName });
    refuseMirrors(rule);
    const taken = () => store.read((db) => findBeyond(db, ruleName, 0));
    if (deletesSnapshots && !isForced) for (const snapshot of taken()) this.#snapshots.refuseNeeded(snapshot);
    // Before, so that a failure leaves the rule to try again with; and after, for one taken in between.
    if (deletesSnapshots) await this.#snapshots.deleteUnneeded(taken(), actor);
    await store.write((tx) => {
      const present = this.#rule(tx, ruleName);
      removeRule(tx, ruleName);
      this.#recordRuleEvent(tx, present, this.#find(tx, present.policy), 'was detached from', actor);
    });
    if (deletesSnapshots) await this.#snapshots.deleteUnneeded(taken(), actor);
  }

  async setPaused(ruleName: string, isPaused: boolean, actor: string): Promise<void> {
    const { store, clock } = this.#tools;
    await store.write((tx) => {
      const rule = this.#rule(tx, ruleName);
      refuseMirrors(rule);
      if (rule.isPaused === isPaused) {
        throw fail('rule_state', { rule: ruleName, state: isPaused ? 'paused already' : 'not paused' });
      }
      pauseRule(tx, ruleName, isPaused, clock.now());
      const policy = this.#find(tx, rule.policy);
      this.#recordRuleEvent(tx, rule, policy, isPaused ? 'was paused for' : 'was resumed for', actor);
    });
    this.scheduler.wake();
  }

  #rule(db: Db, name: string): SnapshotRule {
    const rule = findRule(db, name);
    if (!rule) throw fail('policy_not_found', { id: name });
    return rule;
  }

  #recordEvent(tx: Tx, { displayName, name }: SnapshotPolicy, what: string, actor: string): void {
    const title = `Snapshot policy ${displayName} (${name}) ${what}.`;
    this.#tools.events.record(tx, { title, subject: `snapshot_policy:${name}`, actor });
  }

  #recordRuleEvent(tx: Tx, rule: SnapshotRule, policy: SnapshotPolicy, what: string, actor: string): void {
    const title = `Snapshot policy ${policy.displayName} (${policy.name}) ${what} volume ${rule.volume} as ${rule.name}.`;
    this.#tools.events.record(tx, { title, subject: `volume:${rule.volume}`, actor });
  }
}

interface Detaching {
  readonly deletesSnapshots: boolean;
  readonly isForced: boolean;
}

/** Each mirror has a rule of its own. */
function isSameRule(other: AttachedPolicy, policy: string, application: RuleApplication, mirrorJob?: string): boolean {
  return other.name === policy && other.application === application && other.mirrorJob === (mirrorJob ?? null);
}

function refuseMirrors({ name, mirrorJob }: SnapshotRule): void {
  if (mirrorJob === null) return;
  throw fail('rule_of_mirror', { rule: name, mirror: mirrorJob });
}

function keepOf(field: string, text: string | undefined): number | null {
  if (text === undefined || text === '') return null;
  const keep = Number(text.slice(1));
  if (keep >= 1 && keep <= KEEP_MAX) return keep;
  throw badParameter(field, `must keep between N1 and N${KEEP_MAX}, or be empty to keep all`);
}

function describe({ schedule, keep, createsEmpty }: SnapshotPolicy): string {
  const when = schedule === 'manual' ? 'by hand' : `at ${schedule}`;
  return `${when}, keeps ${keep ?? 'all'}, ${createsEmpty ? 'also' : 'not'} when nothing changed`;
}
