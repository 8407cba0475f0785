import { flag, plain, Table, type Changes, type Db, type Tx } from '@granary/kernel';
import type { PolicyNotes } from './policy.ts';

const policies = new Table<PolicyNotes>('policies', {
  name: plain('name'),
  description: plain('full_description'),
  monthCost: plain('month_cost'),
  isDefault: flag('is_default'),
});

export function listPolicies(db: Db): PolicyNotes[] {
  return policies.all(db, `SELECT ${policies.fields()} FROM policies ORDER BY name`);
}

export function findDefault(db: Db): string | undefined {
  return db.get<{ name: string }>('SELECT name FROM policies WHERE is_default = 1')?.name;
}

export function updatePolicy(
  tx: Tx,
  name: string,
  changes: Changes<Pick<PolicyNotes, 'description' | 'monthCost'>>,
): void {
  ensurePolicy(tx, name);
  policies.update(tx, { name }, { name, ...changes });
}

export function makeDefault(tx: Tx, name: string): void {
  ensurePolicy(tx, name);
  policies.update(tx, { isDefault: true }, { isDefault: false });
  policies.update(tx, { name }, { isDefault: true });
}

function ensurePolicy(tx: Tx, name: string): void {
  tx.run('INSERT INTO policies (name) VALUES (:name) ON CONFLICT DO NOTHING', { name });
}
