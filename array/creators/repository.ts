import type { CreatedKind } from '@granary/contract/array';
import type { Db, Tx } from '@granary/kernel';

type CreatedTable = 'volumes' | 'servers' | 'snapshot_policies';

/** In the transaction that inserts the row. An actor that is no user of the array leaves the thing to administrators. */
export function recordCreator(tx: Tx, table: CreatedTable, name: string, username: string): void {
  tx.run(
    `UPDATE ${table} SET created_by = (SELECT id FROM users WHERE username = :username)
     WHERE name = :name`,
    { name, username },
  );
}

/** What leads from the name of a thing to who created it, or the volumes it is of. */
const CREATORS: Readonly<Record<CreatedKind, string>> = {
  volume: 'SELECT created_by FROM volumes WHERE name = :name',
  consistency_group: 'SELECT created_by FROM volumes WHERE cg_name = :name',
  snapshot: 'SELECT v.created_by FROM snapshots AS s LEFT JOIN volumes AS v ON v.name = s.volume WHERE s.name = :name',
  // It says how many snapshots are kept of every volume it is attached to.
  snapshot_policy: `SELECT created_by FROM snapshot_policies WHERE name = :name
    UNION ALL SELECT v.created_by FROM snapshot_rules AS r LEFT JOIN volumes AS v ON v.name = r.volume
      WHERE r.policy = :name`,
  snapshot_rule:
    'SELECT v.created_by FROM snapshot_rules AS r LEFT JOIN volumes AS v ON v.name = r.volume WHERE r.name = :name',
  snapshot_set: `SELECT v.created_by FROM snapshot_set_members AS m
      LEFT JOIN volumes AS v ON v.name = m.volume WHERE m.snapshot_set = :name
    UNION ALL SELECT c.created_by FROM snapshot_set_members AS m
      JOIN volumes AS c ON c.name = m.clone WHERE m.snapshot_set = :name`,
  migration: `SELECT v.created_by FROM migrations_of_volumes AS m LEFT JOIN volumes AS v ON v.name = m.volume
    WHERE m.src_cg = :name OR m.dst_cg = :name OR m.name = :name`,
  mirror_job: `SELECT v.created_by FROM source_mirrors AS m LEFT JOIN volumes AS v ON v.name = m.volume
      WHERE m.name = :name
    UNION ALL SELECT NULL FROM destination_mirrors WHERE name = :name`,
  server: 'SELECT created_by FROM servers WHERE name = :name',
};

export function isBelowAdmin(db: Db, username: string): boolean {
  return db.get(`SELECT 1 FROM users WHERE username = :username AND role = 'user'`, { username }) !== undefined;
}

/** A server of another user that an initiator with this name would be matched to, at any address. */
export function othersServerWith(db: Db, iqn: string, username: string): string | undefined {
  return db.get<{ display_name: string }>(
    `SELECT s.display_name FROM servers AS s JOIN users AS u ON u.username = :username
     WHERE s.iqn = :iqn COLLATE NOCASE AND s.created_by IS NOT u.id LIMIT 1`,
    { iqn, username },
  )?.display_name;
}

/** One for each thing the name leads to; null is the administrators'. Empty where there is nothing of that name. */
export function creatorsOf(db: Db, kind: CreatedKind, name: string): (number | null)[] {
  return db.all<{ created_by: number | null }>(CREATORS[kind], { name }).map((row) => row.created_by);
}
