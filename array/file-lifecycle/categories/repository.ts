import { plain, Table, type Db, type Tx } from '@granary/kernel';
import type { Category, NamedCategory } from './category.ts';

const categories = new Table<NamedCategory>('file_categories', {
  name: plain('name'),
  displayName: plain('display_name'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});

interface Extensions {
  /** JSON. */
  readonly extensionList: string;
}

const WITH_EXTENSIONS = `SELECT ${categories.fields('c')}, (
    SELECT coalesce(json_group_array(extension), '[]') FROM (
      SELECT extension FROM file_extensions WHERE category = c.name ORDER BY place)
  ) AS extensionList FROM file_categories AS c`;

export function insertCategory(tx: Tx, category: NamedCategory): void {
  categories.insert(tx, category);
}

export function renameCategory(tx: Tx, name: string, displayName: string, now: number): void {
  categories.update(tx, { name }, { displayName, modifiedAt: now });
}

export function removeCategory(tx: Tx, name: string): void {
  tx.run('DELETE FROM file_extensions WHERE category = :name', { name });
  tx.run('DELETE FROM file_categories WHERE name = :name', { name });
}

/** These and no others. */
export function setExtensions(tx: Tx, category: string, extensions: readonly string[], now: number): void {
  tx.run('DELETE FROM file_extensions WHERE category = :category', { category });
  for (const [place, extension] of extensions.entries()) {
    tx.run('INSERT INTO file_extensions VALUES (:extension, :category, :place)', { extension, category, place });
  }
  categories.update(tx, { name: category }, { modifiedAt: now });
}

export function findCategory(db: Db, name: string): Category | undefined {
  const found = categories.get<Extensions>(db, `${WITH_EXTENSIONS} WHERE c.name = :name`, { name });
  return found && withExtensions(found);
}

export function isNameTaken(db: Db, displayName: string): boolean {
  return db.get('SELECT 1 FROM file_categories WHERE display_name = :displayName', { displayName }) !== undefined;
}

export function listCategories(db: Db, start: number, limit: number): Category[] {
  const sql = `${WITH_EXTENSIONS} ORDER BY c.name LIMIT :limit OFFSET :start`;
  return categories.all<Extensions>(db, sql, { start, limit: limit === 0 ? -1 : limit }).map(withExtensions);
}

export function countCategories(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM file_categories')?.n ?? 0;
}

/** The category, by its display name, that an extension is in. */
export function findOwner(db: Db, extension: string): NamedCategory | undefined {
  const sql = `SELECT ${categories.fields('c')} FROM file_extensions AS e JOIN file_categories AS c ON c.name = e.category
    WHERE e.extension = :extension`;
  return categories.get(db, sql, { extension });
}

export function listExtensions(db: Db): { extension: string; category: string }[] {
  return db.all('SELECT extension, category FROM file_extensions');
}

function withExtensions({ extensionList, ...category }: NamedCategory & Extensions): Category {
  return { ...category, extensions: JSON.parse(extensionList) as string[] };
}
