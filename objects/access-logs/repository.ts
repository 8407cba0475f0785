import type { AccessLogKind } from '@granary/contract/objects';
import type { Db, Tx } from '@granary/kernel';
import type { NewEntry } from './entry.ts';

export interface Entry extends NewEntry {
  readonly id: number;
}

export interface SortKey {
  readonly property: 'id' | 'user' | 'controller' | 'action' | 'created';
  readonly direction: 'ASC' | 'DESC';
}

interface EntryRow extends Omit<Entry, 'user'> {
  readonly user: string;
}

interface Page {
  readonly start: number;
  readonly limit: number;
}

/** What was called: `data` begins with its protocol, `reads` are named, all others are `changes`. */
export interface KindFilter {
  readonly kinds: readonly AccessLogKind[];
  /** The names of the operations that change nothing. */
  readonly reads: readonly string[];
}

const ENTRY = `SELECT e.id, u.text AS user, c.text AS controller, a.text AS action, e.params, e.created FROM`;
const NAMES: Readonly<Record<string, string>> = {
  user: 'names u ON u.number = e.user',
  controller: 'names c ON c.number = e.controller',
  action: 'names a ON a.number = e.action',
};
const COLUMNS = { id: 'e.id', user: 'u.text', controller: 'c.text', action: 'a.text', created: 'e.created' } as const;

/** Numbers of the first and the last entry. Numbers have no gaps, so these give the count. */
export function entryRange(db: Db): { first: number; last: number } {
  const ends = db.get<{ first: number | null; last: number | null }>(
    'SELECT (SELECT min(id) FROM entries) AS first, (SELECT max(id) FROM entries) AS last',
  );
  return { first: ends?.first ?? 1, last: ends?.last ?? 0 };
}

/** Behind the last one there is; returns the number of the new last one. */
export function insertEntries(tx: Tx, entries: readonly NewEntry[]): number {
  let { last: id } = entryRange(tx);
  const names = new Map<string, number>();
  const numberOf = (text: string): number => {
    const number = names.get(text) ?? findOrInsertName(tx, text);
    names.set(text, number);
    return number;
  };
  for (const { user, controller, action, params, created } of entries)
    tx.run('INSERT INTO entries VALUES (:id, :user, :controller, :action, :params, :created)', {
      id: (id += 1),
      user: numberOf(user ?? ''),
      controller: numberOf(controller),
      action: numberOf(action),
      params,
      created,
    });
  return id;
}

export function deleteEntriesUntil(tx: Tx, id: number): void {
  tx.run('DELETE FROM entries WHERE id <= :id', { id });
}

/** By the index of actions: there are few of them, and nothing but numbers is read. */
export function countOfKinds(db: Db, filter: KindFilter): number {
  const sql = `SELECT count(*) AS n FROM entries e WHERE ${OF_KINDS}`;
  return db.get<{ n: number }>(sql, kindParams(filter))?.n ?? 0;
}

export function listEntries(db: Db, sort: readonly SortKey[], page: Page, filter?: KindFilter): Entry[] {
  const [first] = sort;
  const rows =
    filter === undefined && (!first || first.property === 'id')
      ? byNumber(db, first?.direction ?? 'DESC', page)
      : sorted(db, sort, page, filter);
  return rows.map((row) => ({ ...row, user: row.user === '' ? null : row.user }));
}

/** Where a page begins is known without going there. */
function byNumber(db: Db, direction: 'ASC' | 'DESC', { start, limit }: Page): EntryRow[] {
  const { first, last } = entryRange(db);
  const [from, to] = direction === 'ASC' ? [first + start, last] : [first, last - start];
  const sql = `${ENTRY} entries e JOIN ${NAMES['user']} JOIN ${NAMES['controller']} JOIN ${NAMES['action']}
    WHERE e.id BETWEEN :from AND :to ORDER BY e.id ${direction} LIMIT :limit`;
  return db.all<EntryRow>(sql, { from, to, limit });
}

/** Names in their order, and the entries of each by the index: nothing has to be sorted for the first of several keys. */
function sorted(db: Db, sort: readonly SortKey[], { start, limit }: Page, filter?: KindFilter): EntryRow[] {
  const order = sort.map(({ property, direction }) => `${COLUMNS[property]} ${direction}`);
  const led = sort[0]?.property;
  const joined = Object.entries(NAMES).filter(([name]) => name !== led);
  const lead = NAMES[led ?? ''];
  const source = lead ? lead.replace(' ON ', ' CROSS JOIN entries e ON ') : 'entries e';
  const sql = `${ENTRY} ${source} ${joined.map(([, on]) => `JOIN ${on}`).join(' ')}
    ${filter ? `WHERE ${OF_KINDS}` : ''} ORDER BY ${[...order, 'e.id DESC'].join(', ')} LIMIT :limit OFFSET :start`;
  return db.all<EntryRow>(sql, { start, limit, ...(filter && kindParams(filter)) });
}

const IS_DATA = `text LIKE 's3 %' OR text LIKE 'swift %'`;
const OF_KINDS = `e.action IN (SELECT number FROM names WHERE (CASE WHEN ${IS_DATA} THEN 'data'
  WHEN text IN (SELECT value FROM json_each(:reads)) THEN 'reads' ELSE 'changes' END) IN (SELECT value FROM json_each(:kinds)))`;

function kindParams({ kinds, reads }: KindFilter): { kinds: string; reads: string } {
  return { kinds: JSON.stringify(kinds), reads: JSON.stringify(reads) };
}

function findOrInsertName(tx: Tx, text: string): number {
  const known = tx.get<{ number: number }>('SELECT number FROM names WHERE text = :text', { text });
  return known?.number ?? tx.run('INSERT INTO names (text) VALUES (:text)', { text }).insertedId;
}
