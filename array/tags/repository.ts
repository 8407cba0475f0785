import type { Db, Tx } from '@granary/kernel';
import { sqlPage, type Page } from '../paging.ts';

export type TaggedKind = 'pool' | 'volume' | 'server';

export interface TagRow {
  readonly name: string;
  readonly kind: TaggedKind;
  readonly owner: string;
  readonly key: string;
  readonly value: string;
}

export function insertTag(tx: Tx, row: TagRow): void {
  tx.run('INSERT INTO tags (name, kind, owner, key, value) VALUES (:name, :kind, :owner, :key, :value)', { ...row });
}

export function updateTag(tx: Tx, name: string, value: string): void {
  tx.run('UPDATE tags SET value = :value WHERE name = :name', { name, value });
}

export function deleteTag(tx: Tx, name: string): void {
  tx.run('DELETE FROM tags WHERE name = :name', { name });
}

export function findTag(db: Db, kind: TaggedKind, owner: string, key: string): TagRow | undefined {
  const sql = 'SELECT * FROM tags WHERE kind = :kind AND owner = :owner AND key = :key';
  return db.get<TagRow>(sql, { kind, owner, key });
}

export function listTags(db: Db, kind: TaggedKind, owner: string, page: Page): TagRow[] {
  const sql = 'SELECT * FROM tags WHERE kind = :kind AND owner = :owner ORDER BY key LIMIT :limit OFFSET :start';
  return db.all<TagRow>(sql, { kind, owner, ...sqlPage(page) });
}

export function countTags(db: Db, kind: TaggedKind, owner: string): number {
  const sql = 'SELECT count(*) AS count FROM tags WHERE kind = :kind AND owner = :owner';
  return db.get<{ count: number }>(sql, { kind, owner })?.count ?? 0;
}

/** With the thing they are on. */
export function removeTagsOf(tx: Tx, kind: TaggedKind, owner: string): void {
  tx.run('DELETE FROM tags WHERE kind = :kind AND owner = :owner', { kind, owner });
}
