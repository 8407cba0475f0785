import type { Db, Tx } from '@granary/kernel';

/** A snapshot policy as it is on record. Booleans are 0 and 1. */
export interface PolicyRow {
  readonly name: string;
  readonly display_name: string;
  readonly create_policy: string;
  readonly keep: number | null;
  readonly keep_at_destination: number | null;
  readonly create_empty: number;
  readonly is_default: number;
  readonly created_at: number;
  readonly modified_at: number;
}

export interface PolicyInUse extends PolicyRow {
  /** How many volumes it is attached to, and for how many of those it is paused. */
  readonly rules: number;
  readonly paused_rules: number;
}

export type RuleApplication = 'user' | 'file_history' | 'mirror';

/** What ties a policy to a volume. */
export interface RuleRow {
  readonly name: string;
  readonly policy: string;
  readonly volume: string;
  readonly application: RuleApplication;
  readonly mirror_job: string | null;
  readonly is_paused: number;
  /** Up to when its times were looked at. */
  readonly last_run_at: number;
  readonly created_at: number;
  readonly modified_at: number;
}

export interface AttachedPolicy extends PolicyRow {
  readonly rule: string;
  readonly application: RuleApplication;
  readonly mirror_job: string | null;
  readonly is_paused: number;
}

const IN_USE = `SELECT p.*,
    (SELECT count(*) FROM snapshot_rules AS r WHERE r.policy = p.name) AS rules,
    (SELECT count(*) FROM snapshot_rules AS r WHERE r.policy = p.name AND r.is_paused = 1) AS paused_rules
  FROM snapshot_policies AS p`;

export function insertPolicy(tx: Tx, row: PolicyRow): void {
  tx.run(
    `INSERT INTO snapshot_policies (name, display_name, create_policy, keep, keep_at_destination, create_empty,
       is_default, created_at, modified_at)
     VALUES (:name, :display_name, :create_policy, :keep, :keep_at_destination, :create_empty,
       :is_default, :created_at, :modified_at)`,
    { ...row },
  );
}

export function updatePolicy(tx: Tx, { name, ...row }: PolicyRow): void {
  tx.run(
    `UPDATE snapshot_policies SET display_name = :display_name, create_policy = :create_policy, keep = :keep,
       keep_at_destination = :keep_at_destination, create_empty = :create_empty, modified_at = :modified_at
     WHERE name = :name`,
    {
      name,
      display_name: row.display_name,
      create_policy: row.create_policy,
      keep: row.keep,
      keep_at_destination: row.keep_at_destination,
      create_empty: row.create_empty,
      modified_at: row.modified_at,
    },
  );
}

export function removePolicy(tx: Tx, name: string): void {
  tx.run('DELETE FROM snapshot_policies WHERE name = :name', { name });
}

export function findPolicy(db: Db, name: string): PolicyInUse | undefined {
  return db.get<PolicyInUse>(`${IN_USE} WHERE p.name = :name`, { name });
}

export function isPolicyNameTaken(db: Db, displayName: string): boolean {
  const sql = 'SELECT 1 FROM snapshot_policies WHERE display_name = :displayName';
  return db.get(sql, { displayName }) !== undefined;
}

export function listPolicies(db: Db, start: number, limit: number): { policies: PolicyInUse[]; count: number } {
  return {
    policies: db.all<PolicyInUse>(`${IN_USE} ORDER BY p.name LIMIT :limit OFFSET :start`, {
      start,
      limit: limit === 0 ? -1 : limit,
    }),
    count: countPolicies(db),
  };
}

export function countPolicies(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM snapshot_policies')?.n ?? 0;
}

export function findDefaults(db: Db): PolicyRow[] {
  return db.all('SELECT * FROM snapshot_policies WHERE is_default = 1 ORDER BY name');
}

export function listAttached(
  db: Db,
  volume: string,
  start = 0,
  limit = 0,
): { policies: AttachedPolicy[]; count: number } {
  const sql = 'FROM snapshot_rules AS r JOIN snapshot_policies AS p ON p.name = r.policy WHERE r.volume = :volume';
  return {
    policies: db.all<AttachedPolicy>(
      `SELECT p.*, r.name AS rule, r.application, r.mirror_job, r.is_paused ${sql}
       ORDER BY r.name LIMIT :limit OFFSET :start`,
      { volume, start, limit: limit === 0 ? -1 : limit },
    ),
    count: db.get<{ n: number }>(`SELECT count(*) AS n ${sql}`, { volume })?.n ?? 0,
  };
}

export function insertRule(tx: Tx, row: RuleRow): void {
  tx.run(
    `INSERT INTO snapshot_rules (name, policy, volume, application, mirror_job, is_paused, last_run_at, created_at,
       modified_at)
     VALUES (:name, :policy, :volume, :application, :mirror_job, :is_paused, :last_run_at, :created_at, :modified_at)`,
    { ...row },
  );
}

export function findRule(db: Db, name: string): RuleRow | undefined {
  return db.get<RuleRow>('SELECT * FROM snapshot_rules WHERE name = :name', { name });
}

export function removeRule(tx: Tx, name: string): void {
  tx.run('DELETE FROM snapshot_rules WHERE name = :name', { name });
}

/** What was due while it was paused is not made up for. */
export function pauseRule(tx: Tx, name: string, isPaused: boolean, now: number): void {
  tx.run(
    `UPDATE snapshot_rules SET is_paused = :isPaused, last_run_at = max(last_run_at, :now), modified_at = :now
     WHERE name = :name`,
    { name, isPaused: isPaused ? 1 : 0, now },
  );
}

export function markRun(tx: Tx, rules: readonly string[], at: number): void {
  for (const name of rules) {
    tx.run('UPDATE snapshot_rules SET last_run_at = max(last_run_at, :at) WHERE name = :name', { name, at });
  }
}

/** The times of its policy are others from now on. */
export function markRunOfPolicy(tx: Tx, policy: string, at: number): void {
  tx.run('UPDATE snapshot_rules SET last_run_at = max(last_run_at, :at) WHERE policy = :policy', { policy, at });
}

/** Policies that take snapshots by the clock of anything at all. */
export function findActivePolicies(db: Db): PolicyRow[] {
  return db.all<PolicyRow>(
    `SELECT * FROM snapshot_policies AS p WHERE create_policy <> 'manual'
       AND EXISTS (SELECT 1 FROM snapshot_rules AS r WHERE r.policy = p.name AND r.is_paused = 0)`,
  );
}

/** Of volumes that are there: those last looked at before a time of their policy that has come. */
export function findDueRules(db: Db, policy: string, dueAt: number): RuleRow[] {
  return db.all<RuleRow>(
    `SELECT r.* FROM snapshot_rules AS r JOIN volumes AS v ON v.name = r.volume AND v.state = 'ready'
     WHERE r.policy = :policy AND r.is_paused = 0 AND r.last_run_at < :dueAt ORDER BY r.name`,
    { policy, dueAt },
  );
}

/** Whether there ever was one: those that come with the array are made once. */
export function hadPolicies(db: Db): boolean {
  return db.get(`SELECT 1 FROM sequences WHERE name = 'policy'`) !== undefined;
}
