import type { PortalRole } from '@granary/contract/portal';
import type { Db, Tx } from '@granary/kernel';
import { sqlPage, type Page } from '../paging.ts';

export interface UserRow {
  readonly id: number;
  readonly username: string;
  readonly email: string | null;
  readonly role: PortalRole;
  readonly auto_approved: number;
  readonly password_hash: string;
  readonly token_sealed: string;
  readonly created_at: number;
  readonly updated_at: number;
  /** Null while the user may sign in. */
  readonly disabled_at: number | null;
}

/** A removed user is kept for the bills and is found nowhere else. */
const PRESENT = 'removed_at IS NULL';

export function listUsers(db: Db, page: Page): UserRow[] {
  return db.all<UserRow>(`SELECT * FROM users WHERE ${PRESENT} ORDER BY id LIMIT :limit OFFSET :start`, sqlPage(page));
}

export function countUsers(db: Db): number {
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM users WHERE ${PRESENT}`)?.n ?? 0;
}

export function findUser(db: Db, id: number): UserRow | undefined {
  return db.get<UserRow>(`SELECT * FROM users WHERE id = :id AND ${PRESENT}`, { id });
}

export function findUserByName(db: Db, username: string): UserRow | undefined {
  return db.get<UserRow>(`SELECT * FROM users WHERE username = :username AND ${PRESENT}`, { username });
}

export function findUserByUuid(db: Db, uuid: string): UserRow | undefined {
  return db.get<UserRow>(`SELECT * FROM users WHERE uuid = :uuid AND ${PRESENT}`, { uuid });
}

export function findUserByToken(db: Db, print: string): UserRow | undefined {
  return db.get<UserRow>(`SELECT * FROM users WHERE token_print = :print AND ${PRESENT}`, { print });
}

/** Something the vault has sealed, to try a key on. */
export function anySealedToken(db: Db): string | undefined {
  return db.get<{ token_sealed: string }>(`SELECT token_sealed FROM users WHERE ${PRESENT} LIMIT 1`)?.token_sealed;
}

/** Administrators besides this one who can sign in. */
export function countOtherAdmins(db: Db, id: number): number {
  const sql = `SELECT count(*) AS n FROM users WHERE role = 'admin' AND id <> :id AND disabled_at IS NULL AND ${PRESENT}`;
  return db.get<{ n: number }>(sql, { id })?.n ?? 0;
}

/** What exists and would be left without an owner. Arrays that can be undeleted count; purged ones do not: bills keep the owner's name. */
export function countBelongings(db: Db, id: number): number {
  return (
    db.get<{ n: number }>(
      `SELECT (SELECT count(*) FROM arrays WHERE owner_id = :id AND purged_at IS NULL)
            + (SELECT count(*) FROM object_accounts WHERE user_id = :id)
            + (SELECT count(*) FROM virtual_networks JOIN tenants ON tenants.id = tenant_id WHERE user_id = :id) AS n`,
      { id },
    )?.n ?? 0
  );
}

interface NewUser {
  readonly username: string;
  readonly email: string | null;
  readonly role: PortalRole;
  readonly autoApproved: boolean;
  readonly passwordHash: string;
  readonly tokenPrint: string;
  readonly tokenSealed: string;
  readonly now: number;
}

export function insertUser(tx: Tx, { autoApproved, ...user }: NewUser): number {
  return tx.run(
    `INSERT INTO users (uuid, username, email, role, auto_approved, password_hash, token_print, token_sealed, created_at, updated_at)
     VALUES (lower(hex(randomblob(16))), :username, :email, :role, :autoApproved, :passwordHash, :tokenPrint, :tokenSealed, :now, :now)`,
    { ...user, autoApproved: Number(autoApproved) },
  ).insertedId;
}

export interface UserChanges {
  readonly email: string | null;
  readonly role: PortalRole;
  readonly autoApproved: boolean;
  readonly passwordHash: string;
}

export function updateUser(tx: Tx, id: number, { autoApproved, ...changes }: UserChanges, now: number): void {
  tx.run(
    `UPDATE users SET email = :email, role = :role, auto_approved = :autoApproved, password_hash = :passwordHash,
       updated_at = :now WHERE id = :id`,
    { id, now, ...changes, autoApproved: Number(autoApproved) },
  );
}

export function updateToken(tx: Tx, id: number, tokenPrint: string, tokenSealed: string): void {
  tx.run('UPDATE users SET token_print = :tokenPrint, token_sealed = :tokenSealed WHERE id = :id', {
    id,
    tokenPrint,
    tokenSealed,
  });
}

export function setDisabled(tx: Tx, id: number, disabledAt: number | null, now: number): void {
  tx.run('UPDATE users SET disabled_at = :disabledAt, updated_at = :now WHERE id = :id', { id, disabledAt, now });
}

/** Keeps what bills name and nothing that could let somebody in. A username has no space, so the new one is free. */
export function removeUser(tx: Tx, id: number, now: number): void {
  tx.run(
    `UPDATE users SET former_name = username, username = 'removed ' || id, email = NULL, password_hash = '',
       token_print = 'removed ' || id, token_sealed = '', removed_at = :now, updated_at = :now WHERE id = :id`,
    { id, now },
  );
  tx.run(`DELETE FROM requests WHERE user_id = :id AND status = 'pending'`, { id });
  tx.run('DELETE FROM computes WHERE user_id = :id', { id });
  tx.run('DELETE FROM tenants WHERE user_id = :id', { id });
}
