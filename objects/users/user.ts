import type { ObjectsRole } from '@granary/contract/objects';
import type { Vault } from '@granary/kernel';
import type { UserRow } from './repository.ts';

export interface User {
  readonly number: number;
  readonly id: string;
  readonly accountId: string;
  readonly accountName: string;
  readonly isSystem: boolean;
  readonly username: string;
  readonly email: string | null;
  readonly role: ObjectsRole;
  readonly isPrimary: boolean;
  readonly locked: boolean;
  readonly accountEnabled: boolean;
  readonly notifyOnEvents: boolean;
  readonly notificationSeverity: number;
  readonly initPasswordChanged: boolean;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

export interface UserSecrets {
  readonly accessKey: string;
  readonly token: string;
  readonly tokenExpiresAt: number;
  readonly s3AccessKey: string;
  readonly s3SecretKey: string;
}

/** Null where whoever asks is not to have them. */
export type ShownSecrets = { readonly [K in keyof UserSecrets]: UserSecrets[K] | null };

export const withheld: ShownSecrets = {
  accessKey: null,
  token: null,
  tokenExpiresAt: null,
  s3AccessKey: null,
  s3SecretKey: null,
};

export function toUser(row: UserRow): User {
  return {
    number: row.number,
    id: row.id,
    accountId: row.account_id,
    accountName: row.account_name,
    isSystem: row.account_is_system === 1,
    username: row.username,
    email: row.email,
    role: row.role,
    isPrimary: row.is_primary === 1,
    locked: row.locked === 1,
    accountEnabled: row.account_enabled === 1,
    notifyOnEvents: row.notify_on_events === 1,
    notificationSeverity: row.notification_severity,
    initPasswordChanged: row.init_password_changed === 1,
    createdAt: row.created_at,
    modifiedAt: row.modified_at,
  };
}

export function withSecrets(row: UserRow, vault: Vault): User & UserSecrets {
  return {
    ...toUser(row),
    accessKey: vault.unseal(row.access_key),
    token: vault.unseal(row.token),
    tokenExpiresAt: row.token_expires_at,
    s3AccessKey: row.s3_access_key,
    s3SecretKey: vault.unseal(row.s3_secret_key),
  };
}
