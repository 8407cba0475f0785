import { flag, plain, sqlPage, Table, WHOLE, type Db, type Page, type Tx } from '@granary/kernel';
import type { AttachedPolicy, PolicyInUse, SnapshotPolicy, SnapshotRule } from './policy.ts';

const policies = new Table<SnapshotPolicy>('snapshot_policies', {
  name: plain('name'),
  displayName: plain('display_name'),
  schedule: plain('create_policy'),
  keep: plain('keep'),
  keepAtDestination: plain('keep_at_destination'),
  createsEmpty: flag('create_empty'),
  isDefault: flag('is_default'),
  createdBy: plain('created_by'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});

const rules = new Table<SnapshotRule>('snapshot_rules', {
  name: plain('name'),
  policy: plain('policy'),
  volume: plain('volume'),
  application: plain('application'),
  mirrorJob: plain('mirror_job'),
  isPaused: flag('is_paused'),
  lastRunAt: plain('last_run_at'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});

type Use = Pick<PolicyInUse, 'rules' | 'pausedRules'>;

const IN_USE = `SELECT ${policies.fields('p')},
    (SELECT count(*) FROM snapshot_rules AS r WHERE r.policy = p.name) AS rules,
    (SELECT count(*) FROM snapshot_rules AS r WHERE r.policy = p.name AND r.is_paused = 1) AS pausedRules
  FROM snapshot_policies AS p`;

export function insertPolicy(tx: Tx, policy: SnapshotPolicy): void {
  policies.insert(tx, policy);
}

export function updatePolicy(tx: Tx, { name, ...change }: SnapshotPolicy): void {
  policies.update(tx, { name }, change);
}

export function removePolicy(tx: Tx, name: string): void {
  tx.run('DELETE FROM snapshot_policies WHERE name = :name', { name });
}

export function findPolicy(db: Db, name: string): PolicyInUse | undefined {
  return policies.get<Use>(db, `${IN_USE} WHERE p.name = :name`, { name });
}

export function isPolicyNameTaken(db: Db, displayName: string): boolean {
  const sql = 'SELECT 1 FROM snapshot_policies WHERE display_name = :displayName';
  return db.get(sql, { displayName }) !== undefined;
}

export function listPolicies(db: Db, page: Page): { policies: PolicyInUse[]; count: number } {
  return {
    policies: policies.all<Use>(db, `${IN_USE} ORDER BY p.name LIMIT :limit OFFSET :start`, sqlPage(page)),
    count: countPolicies(db),
  };
}

export function countPolicies(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM snapshot_policies')?.n ?? 0;
}

export function findDefaults(db: Db): SnapshotPolicy[] {
  return policies.all(db, `SELECT ${policies.fields()} FROM snapshot_policies WHERE is_default = 1 ORDER BY name`);
}

export function listAttached(
  db: Db,
  volume: string,
  page: Page = WHOLE,
): { policies: AttachedPolicy[]; count: number } {
  const sql = 'FROM snapshot_rules AS r JOIN snapshot_policies AS p ON p.name = r.policy WHERE r.volume = :volume';
  const attached = policies.all<Omit<AttachedPolicy, keyof SnapshotPolicy | 'isPaused'> & { readonly paused: number }>(
    db,
    `SELECT ${policies.fields('p')}, r.name AS rule, r.application, r.mirror_job AS mirrorJob, r.is_paused AS paused ${sql}
     ORDER BY r.name LIMIT :limit OFFSET :start`,
    { volume, ...sqlPage(page) },
  );
  return {
    policies: attached.map(({ paused, ...policy }) => ({ ...policy, isPaused: paused === 1 })),
    count: db.get<{ n: number }>(`SELECT count(*) AS n ${sql}`, { volume })?.n ?? 0,
  };
}

export function insertRule(tx: Tx, rule: SnapshotRule): void {
  rules.insert(tx, rule);
}

export function findRule(db: Db, name: string): SnapshotRule | undefined {
  return rules.get(db, `SELECT ${rules.fields()} FROM snapshot_rules WHERE name = :name`, { name });
}

export function listVolumesOfPolicy(db: Db, policy: string): string[] {
  const sql = 'SELECT volume FROM snapshot_rules WHERE policy = :policy';
  return db.all<{ volume: string }>(sql, { policy }).map(({ volume }) => volume);
}

export function removeRule(tx: Tx, name: string): void {
  tx.run('DELETE FROM snapshot_rules WHERE name = :name', { name });
}

export function removeRulesOf(tx: Tx, volume: string): void {
  tx.run('DELETE FROM snapshot_rules WHERE volume = :volume', { volume });
}

/** What was due while it was paused is not made up for. */
export function pauseRule(tx: Tx, name: string, isPaused: boolean, now: number): void {
  tx.run(
    `UPDATE snapshot_rules SET is_paused = :isPaused, last_run_at = max(last_run_at, :now), modified_at = :now
     WHERE name = :name`,
    { name, isPaused: isPaused ? 1 : 0, now },
  );
}

export function markRun(tx: Tx, names: readonly string[], at: number): void {
  for (const name of names) {
    tx.run('UPDATE snapshot_rules SET last_run_at = max(last_run_at, :at) WHERE name = :name', { name, at });
  }
}

/** The times of its policy are others from now on. */
export function markRunOfPolicy(tx: Tx, policy: string, at: number): void {
  tx.run('UPDATE snapshot_rules SET last_run_at = max(last_run_at, :at) WHERE policy = :policy', { policy, at });
}

/** Policies that take snapshots by the clock of anything at all. */
export function findActivePolicies(db: Db): SnapshotPolicy[] {
  return policies.all(
    db,
    `SELECT ${policies.fields('p')} FROM snapshot_policies AS p WHERE create_policy <> 'manual'
       AND EXISTS (SELECT 1 FROM snapshot_rules AS r WHERE r.policy = p.name AND r.is_paused = 0)`,
  );
}

/** Of volumes that are there: those last looked at before a time of their policy that has come. */
export function findDueRules(db: Db, policy: string, dueAt: number): SnapshotRule[] {
  return rules.all(
    db,
    `SELECT ${rules.fields('r')} FROM snapshot_rules AS r JOIN volumes AS v ON v.name = r.volume AND v.state = 'ready'
     WHERE r.policy = :policy AND r.is_paused = 0 AND r.last_run_at < :dueAt ORDER BY r.name`,
    { policy, dueAt },
  );
}
