import { badParameter, fail, type Tx } from '@granary/kernel';
import { findDestination } from '../../object-storage-destinations/repository.ts';
import { nextName } from '../../sequences/repository.ts';
import type { ArrayTools } from '../../tools.ts';
import type { Volume } from '../../volumes/volume.ts';
import { called } from '../../wording.ts';
import { compileCriteria } from '../criteria/compile.ts';
import type { CriteriaContext } from '../criteria/fields.ts';
import { CriteriaProblem } from '../criteria/operands.ts';
import { normalPaths } from '../criteria/paths.ts';
import {
  countPolicies,
  countRules,
  findPolicy,
  findRule,
  insertPolicy,
  insertRule,
  isPolicyNameTaken,
  listPolicies,
  listRules,
  pauseRule,
  removePolicy,
  removeRule,
  updatePolicy,
  type PolicyOrder,
  type Window,
} from './repository.ts';
import type { LifecycleAction, LifecyclePolicy, RuleInPlace } from './policy.ts';

export interface PolicyRequest {
  readonly displayName: string;
  readonly criteria: Record<string, unknown>;
  readonly action: LifecycleAction;
  readonly isEnabled: boolean;
  readonly isDryRun: boolean;
  readonly usesBin: boolean;
  /** An empty list is none. */
  readonly whitelist?: readonly string[] | undefined;
  readonly blacklist?: readonly string[] | undefined;
  readonly destination?: string | undefined;
}

/** What is not there stays as it is. */
export type PolicyChange = { readonly [K in keyof PolicyRequest]?: PolicyRequest[K] | undefined };

interface Neighbours {
  /** A share that is there; else `volume_not_found`, or why it is none. */
  readonly share: (name: string) => Volume;
  /** What names in criteria stand for now. */
  readonly context: () => CriteriaContext;
  /** In the transaction that attaches a policy: the share is scanned from now on, unless that is disabled for it. */
  readonly enable: (tx: Tx, volume: Volume) => void;
  /** Starts a scan of the share. */
  readonly scan: (volume: Volume, actor: string) => Promise<void>;
  /** In a transaction that changes what the records of shares show. */
  readonly changed: (tx: Tx) => void;
  /** Times are others now, or something is to be run that was not. */
  readonly wake: () => void;
}

const POLICIES_MAX = 500;
const RULES_OF_SHARE_MAX = 32;
const CRITERIA_SHOWN_MAX = 200;

/** Policies say which files of a share are archived or expire; rules tie them to shares. */
export class LifecyclePolicyService {
  readonly #tools: ArrayTools;
  readonly #neighbours: Neighbours;

  constructor(tools: ArrayTools, neighbours: Neighbours) {
    this.#tools = tools;
    this.#neighbours = neighbours;
  }

  /** Those attached to a share, or all. */
  list(volume: string | undefined, order: PolicyOrder, window: Window): { policies: LifecyclePolicy[]; count: number } {
    if (volume !== undefined) this.#neighbours.share(volume);
    return this.#tools.store.read((db) => listPolicies(db, volume, order, window));
  }

  listRules(
    of: { readonly policy?: string | undefined; readonly volume?: string | undefined },
    window: Window,
  ): { rules: RuleInPlace[]; count: number } {
    if (of.volume !== undefined) this.#neighbours.share(of.volume);
    if (of.policy !== undefined) this.get(of.policy);
    return this.#tools.store.read((db) => listRules(db, of, window));
  }

  /** Not found: `policy_not_found`. */
  get(name: string): LifecyclePolicy {
    const policy = this.#tools.store.read((db) => findPolicy(db, name));
    if (!policy) throw fail('policy_not_found', { id: name });
    return policy;
  }

  async create(wanted: PolicyRequest, actor: string): Promise<LifecyclePolicy> {
    const { store, clock } = this.#tools;
    const checked = this.#checked(wanted);
    return store.write((tx) => {
      if (isPolicyNameTaken(tx, wanted.displayName)) throw fail('name_taken', { name: wanted.displayName });
      if (countPolicies(tx) >= POLICIES_MAX) {
        throw fail('lifecycle_policies_limit', { max: POLICIES_MAX });
      }
      const now = clock.now();
      const policy: LifecyclePolicy = {
        name: nextName(tx, 'lc-policy'),
        displayName: wanted.displayName,
        action: wanted.action,
        criteria: JSON.stringify(wanted.criteria),
        isEnabled: wanted.isEnabled,
        isDryRun: wanted.isDryRun,
        usesBin: wanted.usesBin,
        whitelist: null,
        blacklist: null,
        destination: null,
        ...checked,
        createdAt: now,
        modifiedAt: now,
      };
      refuseContradictions(policy);
      insertPolicy(tx, policy);
      this.#recordEvent(tx, policy, `was created: ${describe(policy)}`, actor);
      return policy;
    });
  }

  async update(name: string, change: PolicyChange, actor: string): Promise<void> {
    const { store, clock } = this.#tools;
    this.get(name);
    const checked = this.#checked(change);
    await store.write((tx) => {
      const present = this.get(name);
      const next: LifecyclePolicy = {
        ...present,
        displayName: change.displayName ?? present.displayName,
        action: change.action ?? present.action,
        criteria: change.criteria === undefined ? present.criteria : JSON.stringify(change.criteria),
        isEnabled: change.isEnabled ?? present.isEnabled,
        isDryRun: change.isDryRun ?? present.isDryRun,
        usesBin: change.usesBin ?? present.usesBin,
        ...checked,
        // Always another: what is under way goes by it.
        modifiedAt: Math.max(clock.now(), present.modifiedAt + 1),
      };
      refuseContradictions(next);
      if (next.displayName !== present.displayName && isPolicyNameTaken(tx, next.displayName)) {
        throw fail('name_taken', { name: next.displayName });
      }
      updatePolicy(tx, next);
      this.#neighbours.changed(tx);
      this.#recordEvent(tx, next, `was changed: ${describe(next)}`, actor);
    });
  }

  async delete(name: string, actor: string): Promise<void> {
    await this.#tools.store.write((tx) => {
      const policy = this.get(name);
      const rules = countRules(tx, { policy: name });
      if (rules > 0) {
        throw fail('lifecycle_policy_attached', {
          policy: called(policy),
          count: rules,
        });
      }
      removePolicy(tx, name);
      this.#recordEvent(tx, policy, 'was deleted', actor);
    });
  }

  async attach(name: string, volume: string, actor: string): Promise<void> {
    const { store, clock } = this.#tools;
    this.get(name);
    await store.write((tx) => {
      const policy = this.get(name);
      const share = this.#neighbours.share(volume);
      if (findRule(tx, name, share.name)) {
        throw fail('policy_attached_already', { policy: called(policy), to: called(share) });
      }
      if (countRules(tx, { volume: share.name }) >= RULES_OF_SHARE_MAX) {
        throw fail('lifecycle_policies_of_share', { share: called(share), max: RULES_OF_SHARE_MAX });
      }
      this.#neighbours.enable(tx, share);
      insertRule(tx, { name: nextName(tx, 'lc-rule'), policy: name, volume: share.name, now: clock.now() });
      this.#neighbours.changed(tx);
      this.#recordShareEvent(tx, policy, share, 'was attached to', actor);
    });
    this.#neighbours.wake();
  }

  async detach(name: string, volume: string, actor: string): Promise<void> {
    this.get(name);
    await this.#tools.store.write((tx) => {
      const policy = this.get(name);
      const share = this.#neighbours.share(volume);
      const rule = findRule(tx, name, share.name);
      if (!rule) throw fail('nothing_to_delete');
      removeRule(tx, rule.name);
      this.#neighbours.changed(tx);
      this.#recordShareEvent(tx, policy, share, 'was detached from', actor);
    });
  }

  async setPaused(name: string, volume: string, isPaused: boolean, actor: string): Promise<void> {
    const { store, clock } = this.#tools;
    this.get(name);
    await store.write((tx) => {
      const policy = this.get(name);
      const share = this.#neighbours.share(volume);
      const rule = findRule(tx, name, share.name);
      if (!rule) throw fail('policy_not_attached', { policy: called(policy), share: called(share) });
      if (rule.isPaused === isPaused) {
        throw fail('lifecycle_rule_state', {
          policy: called(policy),
          state: isPaused ? 'paused already' : 'not paused',
          share: called(share),
        });
      }
      pauseRule(tx, rule.name, isPaused, clock.now());
      this.#recordShareEvent(tx, policy, share, isPaused ? 'was paused for' : 'was resumed for', actor);
    });
    this.#neighbours.wake();
  }

  /** Now; what it comes to is seen in the rules. */
  async scan(volume: string, actor: string): Promise<void> {
    await this.#neighbours.scan(this.#neighbours.share(volume), actor);
  }

  /** What was sent, in the form it is kept in; what was not is not there. */
  #checked(change: PolicyChange): Partial<Pick<LifecyclePolicy, 'whitelist' | 'blacklist' | 'destination'>> {
    const { criteria, whitelist, blacklist, destination } = change;
    if (criteria !== undefined) {
      try {
        compileCriteria(criteria, this.#neighbours.context());
      } catch (error) {
        if (error instanceof CriteriaProblem) throw badParameter('file_selection_criteria', error.message);
        throw error;
      }
    }
    if (destination !== undefined && !this.#tools.store.read((db) => findDestination(db, destination))) {
      throw fail('destination_not_found', { id: destination });
    }
    return {
      ...(whitelist && { whitelist: pathsOf('whitelist_paths', whitelist) }),
      ...(blacklist && { blacklist: pathsOf('blacklist_paths', blacklist) }),
      ...(destination !== undefined && { destination }),
    };
  }

  #recordEvent(tx: Tx, policy: LifecyclePolicy, what: string, actor: string): void {
    const title = `File lifecycle policy ${called(policy)} ${what}.`;
    this.#tools.events.record(tx, { title, subject: `lifecycle_policy:${policy.name}`, actor });
  }

  #recordShareEvent(tx: Tx, policy: LifecyclePolicy, share: Volume, what: string, actor: string): void {
    const title = `File lifecycle policy ${called(policy)} ${what} share ${called(share)}.`;
    this.#tools.events.record(tx, { title, subject: `volume:${share.name}`, actor });
  }
}

function refuseContradictions({ action, usesBin, destination }: LifecyclePolicy): void {
  if (action === 'archive' && destination === null) {
    throw badParameter('dest_obs_name', 'is required for lc_action=archive: the object storage destination');
  }
  if (action === 'archive' && usesBin) {
    throw badParameter('use_recycle_bin', 'is for lc_action=expire: an archived file stays where it is');
  }
}

function pathsOf(field: string, paths: readonly string[]): readonly string[] | null {
  return paths.length === 0 ? null : normalPaths(field, paths);
}

function describe(policy: LifecyclePolicy): string {
  const does =
    policy.action === 'archive'
      ? `archives to ${policy.destination ?? ''}`
      : policy.usesBin
        ? 'expires to the recycle bin'
        : 'expires';
  const dry = policy.isDryRun ? ', only as a dry run' : '';
  const off = policy.isEnabled ? '' : ', not enabled';
  return `it ${does} what matches ${shortened(policy.criteria)}${dry}${off}`;
}

function shortened(text: string): string {
  return text.length > CRITERIA_SHOWN_MAX ? `${text.slice(0, CRITERIA_SHOWN_MAX)}…` : text;
}
