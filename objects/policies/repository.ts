import type { Db, Tx } from '@granary/kernel';

export interface PolicyRow {
  readonly name: string;
  readonly full_description: string | null;
  readonly month_cost: string;
  readonly is_default: number;
}

export function listPolicies(db: Db): PolicyRow[] {
  return db.all<PolicyRow>('SELECT * FROM policies ORDER BY name');
}

export function findDefault(db: Db): string | undefined {
  return db.get<{ name: string }>('SELECT name FROM policies WHERE is_default = 1')?.name;
}

export function updatePolicy(
  tx: Tx,
  name: string,
  { description, cost }: { readonly description?: string | undefined; readonly cost?: string | undefined },
): void {
  tx.run('INSERT INTO policies (name) VALUES (:name) ON CONFLICT DO NOTHING', { name });
  if (description !== undefined)
    tx.run('UPDATE policies SET full_description = :description WHERE name = :name', { name, description });
  if (cost !== undefined) tx.run('UPDATE policies SET month_cost = :cost WHERE name = :name', { name, cost });
}

export function makeDefault(tx: Tx, name: string): void {
  tx.run('INSERT INTO policies (name) VALUES (:name) ON CONFLICT DO NOTHING', { name });
  tx.run('UPDATE policies SET is_default = 0 WHERE is_default = 1');
  tx.run('UPDATE policies SET is_default = 1 WHERE name = :name', { name });
}
