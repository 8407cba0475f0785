import { flag, json, plain, Table, type Db, type Tx } from '@granary/kernel';
import type { ActiveRule, LifecyclePolicy, LifecycleRule, RuleInPlace, RunFigures } from './policy.ts';

const policies = new Table<LifecyclePolicy>('lifecycle_policies', {
  name: plain('name'),
  displayName: plain('display_name'),
  action: plain('action'),
  criteria: plain('criteria'),
  isEnabled: flag('is_enabled'),
  isDryRun: flag('is_dry_run'),
  usesBin: flag('uses_bin'),
  whitelist: json('whitelist'),
  blacklist: json('blacklist'),
  destination: plain('destination'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});

const rules = new Table<LifecycleRule>('lifecycle_rules', {
  name: plain('name'),
  policy: plain('policy'),
  volume: plain('volume'),
  isPaused: flag('is_paused'),
  lastRunAt: plain('last_run_at'),
  wasDryRun: flag('was_dry_run'),
  matchedFiles: plain('matched_files'),
  matchedBytes: plain('matched_bytes'),
  handledFiles: plain('handled_files'),
  handledBytes: plain('handled_bytes'),
  changedFiles: plain('changed_files'),
  failedFiles: plain('failed_files'),
  problem: plain('problem'),
  sample: json('sample'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});

const NO_FIGURES: RunFigures = {
  matchedFiles: 0,
  matchedBytes: 0,
  handledFiles: 0,
  handledBytes: 0,
  changedFiles: 0,
  failedFiles: 0,
  problem: null,
  sample: [],
};

export interface PolicyOrder {
  readonly by: 'name' | 'display_name' | 'created_at' | 'modified_at';
  readonly isDescending: boolean;
}

export interface Window {
  readonly first: number;
  readonly number: number;
}

export function insertPolicy(tx: Tx, policy: LifecyclePolicy): void {
  policies.insert(tx, policy);
}

export function updatePolicy(tx: Tx, { name, createdAt: _, ...change }: LifecyclePolicy): void {
  policies.update(tx, { name }, change);
}

export function removePolicy(tx: Tx, name: string): void {
  tx.run('DELETE FROM lifecycle_policies WHERE name = :name', { name });
}

export function findPolicy(db: Db, name: string): LifecyclePolicy | undefined {
  return policies.get(db, `SELECT ${policies.fields()} FROM lifecycle_policies WHERE name = :name`, { name });
}

export function isPolicyNameTaken(db: Db, displayName: string): boolean {
  return db.get('SELECT 1 FROM lifecycle_policies WHERE display_name = :displayName', { displayName }) !== undefined;
}

export function countPolicies(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM lifecycle_policies')?.n ?? 0;
}

/** Of one share; all without one. */
export function listPolicies(
  db: Db,
  volume: string | undefined,
  order: PolicyOrder,
  { first, number }: Window,
): { policies: LifecyclePolicy[]; count: number } {
  const from = `FROM lifecycle_policies AS p WHERE :volume IS NULL
    OR EXISTS (SELECT 1 FROM lifecycle_rules AS r WHERE r.policy = p.name AND r.volume = :volume)`;
  const direction = order.isDescending ? 'DESC' : 'ASC';
  return {
    policies: policies.all(
      db,
      `SELECT ${policies.fields('p')} ${from} ORDER BY p.${order.by} ${direction}, p.name ${direction} LIMIT :limit OFFSET :first`,
      { volume: volume ?? null, first, limit: number === 0 ? -1 : number },
    ),
    count: db.get<{ n: number }>(`SELECT count(*) AS n ${from}`, { volume: volume ?? null })?.n ?? 0,
  };
}

type NewRule = Pick<LifecycleRule, 'name' | 'policy' | 'volume'> & { readonly now: number };

export function insertRule(tx: Tx, { now, ...rule }: NewRule): void {
  rules.insert(tx, {
    ...rule,
    ...NO_FIGURES,
    isPaused: false,
    lastRunAt: null,
    wasDryRun: false,
    createdAt: now,
    modifiedAt: now,
  });
}

export function findRule(db: Db, policy: string, volume: string): LifecycleRule | undefined {
  const sql = `SELECT ${rules.fields()} FROM lifecycle_rules WHERE policy = :policy AND volume = :volume`;
  return rules.get(db, sql, { policy, volume });
}

export function removeRule(tx: Tx, name: string): void {
  tx.run('DELETE FROM lifecycle_rules WHERE name = :name', { name });
}

export function pauseRule(tx: Tx, name: string, isPaused: boolean, now: number): void {
  rules.update(tx, { name }, { isPaused, modifiedAt: now });
}

export function countRules(db: Db, of: { policy?: string; volume?: string }): number {
  const sql = `SELECT count(*) AS n FROM lifecycle_rules
    WHERE (:policy IS NULL OR policy = :policy) AND (:volume IS NULL OR volume = :volume)`;
  return db.get<{ n: number }>(sql, { policy: of.policy ?? null, volume: of.volume ?? null })?.n ?? 0;
}

/** Of shares that are there. */
export function listRules(
  db: Db,
  { policy, volume }: { policy?: string | undefined; volume?: string | undefined },
  { first, number }: Window,
): { rules: RuleInPlace[]; count: number } {
  const from = `FROM lifecycle_rules AS r JOIN lifecycle_policies AS p ON p.name = r.policy
    JOIN volumes AS v ON v.name = r.volume AND v.state IN ('creating', 'ready')
    WHERE (:policy IS NULL OR r.policy = :policy) AND (:volume IS NULL OR r.volume = :volume)`;
  const wanted = { policy: policy ?? null, volume: volume ?? null };
  return {
    rules: rules.all<Pick<RuleInPlace, 'policyDisplayName' | 'volumeDisplayName'>>(
      db,
      `SELECT ${rules.fields('r')}, p.display_name AS policyDisplayName, v.display_name AS volumeDisplayName ${from}
       ORDER BY r.name LIMIT :limit OFFSET :first`,
      { ...wanted, first, limit: number === 0 ? -1 : number },
    ),
    count: db.get<{ n: number }>(`SELECT count(*) AS n ${from}`, wanted)?.n ?? 0,
  };
}

/** In the order they are asked whether a file is theirs. */
export function findActiveRules(db: Db, volume: string): ActiveRule[] {
  return policies.all<Pick<ActiveRule, 'rule'>>(
    db,
    `SELECT ${policies.fields('p')}, r.name AS rule FROM lifecycle_rules AS r JOIN lifecycle_policies AS p ON p.name = r.policy
     WHERE r.volume = :volume AND r.is_paused = 0 AND p.is_enabled = 1 ORDER BY p.display_name, p.name`,
    { volume },
  );
}

/** Whether it still is what it was when its criteria were asked. */
export function isStillActive(db: Db, { rule, modifiedAt }: ActiveRule): boolean {
  const sql = `SELECT 1 FROM lifecycle_rules AS r JOIN lifecycle_policies AS p ON p.name = r.policy
    WHERE r.name = :rule AND r.is_paused = 0 AND p.is_enabled = 1 AND p.modified_at = :modifiedAt`;
  return db.get(sql, { rule, modifiedAt }) !== undefined;
}

export function beginRun(tx: Tx, rule: string, isDryRun: boolean, now: number): void {
  rules.update(tx, { name: rule }, { ...NO_FIGURES, lastRunAt: now, wasDryRun: isDryRun });
}

export function saveFigures(tx: Tx, rule: string, figures: RunFigures): void {
  rules.update(tx, { name: rule }, figures);
}

/** With the share itself. */
export function removeRulesOfShare(tx: Tx, volume: string): void {
  tx.run('DELETE FROM lifecycle_rules WHERE volume = :volume', { volume });
}

export function findRuleByName(db: Db, name: string): LifecycleRule | undefined {
  return rules.get(db, `SELECT ${rules.fields()} FROM lifecycle_rules WHERE name = :name`, { name });
}
