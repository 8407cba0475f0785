import type { Db, Tx } from '@granary/kernel';

export interface CategoryRow {
  readonly name: string;
  readonly display_name: string;
  readonly created_at: number;
  readonly modified_at: number;
}

export interface Category extends CategoryRow {
  /** JSON list, in the order they were given. */
  readonly extensions: string;
}

const WITH_EXTENSIONS = `SELECT c.*, (
    SELECT coalesce(json_group_array(extension), '[]') FROM (
      SELECT extension FROM file_extensions WHERE category = c.name ORDER BY place)
  ) AS extensions FROM file_categories AS c`;

export function insertCategory(tx: Tx, row: CategoryRow): void {
  tx.run('INSERT INTO file_categories VALUES (:name, :display_name, :created_at, :modified_at)', { ...row });
}

export function renameCategory(tx: Tx, name: string, displayName: string, now: number): void {
  const sql = 'UPDATE file_categories SET display_name = :displayName, modified_at = :now WHERE name = :name';
  tx.run(sql, { name, displayName, now });
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
  tx.run('UPDATE file_categories SET modified_at = :now WHERE name = :category', { category, now });
}

export function findCategory(db: Db, name: string): Category | undefined {
  return db.get<Category>(`${WITH_EXTENSIONS} WHERE c.name = :name`, { name });
}

export function isNameTaken(db: Db, displayName: string): boolean {
  return db.get('SELECT 1 FROM file_categories WHERE display_name = :displayName', { displayName }) !== undefined;
}

export function listCategories(db: Db, start: number, limit: number): Category[] {
  const sql = `${WITH_EXTENSIONS} ORDER BY c.name LIMIT :limit OFFSET :start`;
  return db.all<Category>(sql, { start, limit: limit === 0 ? -1 : limit });
}

export function countCategories(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM file_categories')?.n ?? 0;
}

/** The category, by its display name, that an extension is in. */
export function findOwner(db: Db, extension: string): CategoryRow | undefined {
  const sql = `SELECT c.* FROM file_extensions AS e JOIN file_categories AS c ON c.name = e.category
    WHERE e.extension = :extension`;
  return db.get<CategoryRow>(sql, { extension });
}

export function listExtensions(db: Db): { extension: string; category: string }[] {
  return db.all('SELECT extension, category FROM file_extensions');
}

/** Whether there ever was one: those that come with the array are made once. */
export function hadCategories(db: Db): boolean {
  return db.get(`SELECT 1 FROM sequences WHERE name = 'category'`) !== undefined;
}
