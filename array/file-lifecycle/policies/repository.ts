import type { Db, Tx } from '@granary/kernel';

export type LifecycleAction = 'archive' | 'expire';

/** A file lifecycle policy as it is on record. Booleans are 0 and 1. */
export interface PolicyRow {
  readonly name: string;
  readonly display_name: string;
  readonly action: LifecycleAction;
  readonly criteria: string;
  readonly is_enabled: number;
  readonly is_dry_run: number;
  readonly uses_bin: number;
  readonly whitelist: string | null;
  readonly blacklist: string | null;
  readonly destination: string | null;
  readonly created_at: number;
  readonly modified_at: number;
}

export interface RunFigures {
  readonly matched_files: number;
  readonly matched_bytes: number;
  readonly handled_files: number;
  readonly handled_bytes: number;
  readonly changed_files: number;
  readonly failed_files: number;
  readonly problem: string | null;
  /** JSON list of paths. */
  readonly sample: string;
}

/** What ties a policy to a share. */
export interface RuleRow extends RunFigures {
  readonly name: string;
  readonly policy: string;
  readonly volume: string;
  readonly is_paused: number;
  readonly last_run_at: number | null;
  readonly was_dry_run: number;
  readonly created_at: number;
  readonly modified_at: number;
}

export interface RuleInPlace extends RuleRow {
  readonly policy_display_name: string;
  readonly volume_display_name: string;
}

export interface PolicyOrder {
  readonly by: 'name' | 'display_name' | 'created_at' | 'modified_at';
  readonly isDescending: boolean;
}

export interface Window {
  readonly first: number;
  readonly number: number;
}

export function insertPolicy(tx: Tx, row: PolicyRow): void {
  tx.run(
    `INSERT INTO lifecycle_policies (name, display_name, action, criteria, is_enabled, is_dry_run, uses_bin, whitelist,
       blacklist, destination, created_at, modified_at)
     VALUES (:name, :display_name, :action, :criteria, :is_enabled, :is_dry_run, :uses_bin, :whitelist,
       :blacklist, :destination, :created_at, :modified_at)`,
    { ...row },
  );
}

export function updatePolicy(tx: Tx, { created_at: _, ...row }: PolicyRow): void {
  tx.run(
    `UPDATE lifecycle_policies SET display_name = :display_name, action = :action, criteria = :criteria,
       is_enabled = :is_enabled, is_dry_run = :is_dry_run, uses_bin = :uses_bin, whitelist = :whitelist,
       blacklist = :blacklist, destination = :destination, modified_at = :modified_at
     WHERE name = :name`,
    { ...row },
  );
}

export function removePolicy(tx: Tx, name: string): void {
  tx.run('DELETE FROM lifecycle_policies WHERE name = :name', { name });
}

export function findPolicy(db: Db, name: string): PolicyRow | undefined {
  return db.get<PolicyRow>('SELECT * FROM lifecycle_policies WHERE name = :name', { name });
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
): { policies: PolicyRow[]; count: number } {
  const from = `FROM lifecycle_policies AS p WHERE :volume IS NULL
    OR EXISTS (SELECT 1 FROM lifecycle_rules AS r WHERE r.policy = p.name AND r.volume = :volume)`;
  const direction = order.isDescending ? 'DESC' : 'ASC';
  return {
    policies: db.all<PolicyRow>(
      `SELECT p.* ${from} ORDER BY p.${order.by} ${direction}, p.name ${direction} LIMIT :limit OFFSET :first`,
      { volume: volume ?? null, first, limit: number === 0 ? -1 : number },
    ),
    count: db.get<{ n: number }>(`SELECT count(*) AS n ${from}`, { volume: volume ?? null })?.n ?? 0,
  };
}

export function insertRule(tx: Tx, row: Pick<RuleRow, 'name' | 'policy' | 'volume'> & { now: number }): void {
  tx.run(
    `INSERT INTO lifecycle_rules (name, policy, volume, created_at, modified_at)
     VALUES (:name, :policy, :volume, :now, :now)`,
    { ...row },
  );
}

export function findRule(db: Db, policy: string, volume: string): RuleRow | undefined {
  const sql = 'SELECT * FROM lifecycle_rules WHERE policy = :policy AND volume = :volume';
  return db.get<RuleRow>(sql, { policy, volume });
}

export function removeRule(tx: Tx, name: string): void {
  tx.run('DELETE FROM lifecycle_rules WHERE name = :name', { name });
}

export function pauseRule(tx: Tx, name: string, isPaused: boolean, now: number): void {
  const sql = 'UPDATE lifecycle_rules SET is_paused = :isPaused, modified_at = :now WHERE name = :name';
  tx.run(sql, { name, isPaused: isPaused ? 1 : 0, now });
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
    rules: db.all<RuleInPlace>(
      `SELECT r.*, p.display_name AS policy_display_name, v.display_name AS volume_display_name ${from}
       ORDER BY r.name LIMIT :limit OFFSET :first`,
      { ...wanted, first, limit: number === 0 ? -1 : number },
    ),
    count: db.get<{ n: number }>(`SELECT count(*) AS n ${from}`, wanted)?.n ?? 0,
  };
}

/** The policies of a share that run, in the order they are asked whether a file is theirs. */
export interface ActiveRule extends PolicyRow {
  readonly rule: string;
}

export function findActiveRules(db: Db, volume: string): ActiveRule[] {
  return db.all<ActiveRule>(
    `SELECT p.*, r.name AS rule FROM lifecycle_rules AS r JOIN lifecycle_policies AS p ON p.name = r.policy
     WHERE r.volume = :volume AND r.is_paused = 0 AND p.is_enabled = 1 ORDER BY p.display_name, p.name`,
    { volume },
  );
}

/** Whether it still is what it was when its criteria were asked. */
export function isStillActive(db: Db, { rule, modified_at }: ActiveRule): boolean {
  const sql = `SELECT 1 FROM lifecycle_rules AS r JOIN lifecycle_policies AS p ON p.name = r.policy
    WHERE r.name = :rule AND r.is_paused = 0 AND p.is_enabled = 1 AND p.modified_at = :modified_at`;
  return db.get(sql, { rule, modified_at }) !== undefined;
}

export function beginRun(tx: Tx, rule: string, isDryRun: boolean, now: number): void {
  tx.run(
    `UPDATE lifecycle_rules SET last_run_at = :now, was_dry_run = :isDryRun, matched_files = 0, matched_bytes = 0,
       handled_files = 0, handled_bytes = 0, changed_files = 0, failed_files = 0, problem = NULL, sample = '[]'
     WHERE name = :rule`,
    { rule, isDryRun: isDryRun ? 1 : 0, now },
  );
}

export function saveFigures(tx: Tx, rule: string, figures: RunFigures): void {
  tx.run(
    `UPDATE lifecycle_rules SET matched_files = :matched_files, matched_bytes = :matched_bytes,
       handled_files = :handled_files, handled_bytes = :handled_bytes, changed_files = :changed_files,
       failed_files = :failed_files, problem = :problem, sample = :sample
     WHERE name = :rule`,
    {
      rule,
      matched_files: figures.matched_files,
      matched_bytes: figures.matched_bytes,
      handled_files: figures.handled_files,
      handled_bytes: figures.handled_bytes,
      changed_files: figures.changed_files,
      failed_files: figures.failed_files,
      problem: figures.problem,
      sample: figures.sample,
    },
  );
}

/** With the share itself. */
export function removeLifecycleOf(tx: Tx, volume: string): void {
  tx.run('DELETE FROM lifecycle_rules WHERE volume = :volume', { volume });
  tx.run('DELETE FROM lifecycle_shares WHERE volume = :volume', { volume });
}

export function findRuleByName(db: Db, name: string): RuleRow | undefined {
  return db.get<RuleRow>('SELECT * FROM lifecycle_rules WHERE name = :name', { name });
}
