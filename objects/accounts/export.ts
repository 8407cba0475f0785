import { setImmediate as yieldTurn } from 'node:timers/promises';
import type { Store } from '@granary/kernel';
import { stringify } from 'csv-stringify/sync';
import type { AccountFigures } from '../tools.ts';
import { trueFalse } from '../wording.ts';
import type { Account } from './account.ts';
import { listAccountsAfter } from './repository.ts';

const COLUMNS = ['Name', 'ID', 'Status', 'Used Capacity (GiB)', 'Containers', 'Objects', 'Enabled'];
const ACCOUNTS_PER_TURN = 200;
const GIB = 2 ** 30;
/** A byte is about 10⁻⁹ GiB. */
const DECIMALS = 9;

/** All accounts with what they store, a few at a time so that others have their turn. */
export async function accountsCsv(store: Store, figures: AccountFigures): Promise<Buffer> {
  const parts = [stringify([COLUMNS])];
  let last: Pick<Account, 'name' | 'id'> = { name: '', id: '' };
  for (;;) {
    const { name, id } = last;
    const accounts = store.read((db) => listAccountsAfter(db, { name, id }, ACCOUNTS_PER_TURN));
    // Users choose names: one that begins like a formula must not become one in a spreadsheet.
    parts.push(
      stringify(
        accounts.map((account) => lineOf(account, figures)),
        { escape_formulas: true },
      ),
    );
    const end = accounts.at(-1);
    if (!end || accounts.length < ACCOUNTS_PER_TURN) return Buffer.from(parts.join(''));
    last = end;
    await yieldTurn();
  }
}

function lineOf({ name, id, state, enabled }: Account, figures: AccountFigures): (string | number)[] {
  const { bytes, buckets, objects } = figures.usage(id);
  return [name, id, state, gibText(bytes), buckets, objects, trueFalse(enabled)];
}

function gibText(bytes: number): string {
  return (bytes / GIB).toFixed(DECIMALS).replace(/\.?0+$/, '');
}
