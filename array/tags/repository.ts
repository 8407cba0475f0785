import { plain, sqlPage, Table, type Db, type Page, type Tx } from '@granary/kernel';
import type { Tag, TaggedKind } from './tag.ts';

const tags = new Table<Tag>('tags', {
  name: plain('name'),
  kind: plain('kind'),
  owner: plain('owner'),
  key: plain('key'),
  value: plain('value'),
});
const SELECT = `SELECT ${tags.fields()} FROM tags`;

export function insertTag(tx: Tx, tag: Tag): void {
  tags.insert(tx, tag);
}

export function updateTag(tx: Tx, name: string, value: string): void {
  tx.run('UPDATE tags SET value = :value WHERE name = :name', { name, value });
}

export function deleteTag(tx: Tx, name: string): void {
  tx.run('DELETE FROM tags WHERE name = :name', { name });
}

export function findTag(db: Db, kind: TaggedKind, owner: string, key: string): Tag | undefined {
  const sql = `${SELECT} WHERE kind = :kind AND owner = :owner AND key = :key`;
  return tags.get(db, sql, { kind, owner, key });
}

export function listTags(db: Db, kind: TaggedKind, owner: string, page: Page): Tag[] {
  const sql = `${SELECT} WHERE kind = :kind AND owner = :owner ORDER BY key LIMIT :limit OFFSET :start`;
  return tags.all(db, sql, { kind, owner, ...sqlPage(page) });
}

export function countTags(db: Db, kind: TaggedKind, owner: string): number {
  const sql = 'SELECT count(*) AS count FROM tags WHERE kind = :kind AND owner = :owner';
  return db.get<{ count: number }>(sql, { kind, owner })?.count ?? 0;
}

/** With the thing they are on. */
export function removeTagsOf(tx: Tx, kind: TaggedKind, owner: string): void {
  tx.run('DELETE FROM tags WHERE kind = :kind AND owner = :owner', { kind, owner });
}
