import type { ObjectsRole } from '@granary/contract/objects';
import type { Vault } from '@granary/kernel';

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

/** Null where the caller may not see them. */
export type ShownSecrets = { readonly [K in keyof UserSecrets]: UserSecrets[K] | null };

export const withheld: ShownSecrets = {
  accessKey: null,
  token: null,
  tokenExpiresAt: null,
  s3AccessKey: null,
  s3SecretKey: null,
};

export interface SealedToken {
  readonly tokenSealed: string;
  /** What the token is found by. */
  readonly tokenMark: string;
  readonly tokenExpiresAt: number;
}

export interface SealedAccessKey {
  readonly accessKeySealed: string;
  readonly accessKeyMark: string;
}

/** Secrets as they are kept: sealed, with the mark they are found by. */
export interface SealedKeys extends SealedToken, SealedAccessKey {
  readonly s3AccessKey: string;
  readonly s3SecretKeySealed: string;
}

/** With what stays inside the array. */
export interface SealedUser extends User, SealedKeys {
  /** Null until one is set with a code. */
  readonly passwordHash: string | null;
  readonly passwordSetAt: number | null;
}

/** Without what is sealed. */
export function toUser(user: User): User {
  return {
    number: user.number,
    id: user.id,
    accountId: user.accountId,
    accountName: user.accountName,
    isSystem: user.isSystem,
    username: user.username,
    email: user.email,
    role: user.role,
    isPrimary: user.isPrimary,
    locked: user.locked,
    accountEnabled: user.accountEnabled,
    notifyOnEvents: user.notifyOnEvents,
    notificationSeverity: user.notificationSeverity,
    initPasswordChanged: user.initPasswordChanged,
    createdAt: user.createdAt,
    modifiedAt: user.modifiedAt,
  };
}

export function withSecrets(user: SealedUser, vault: Vault): User & UserSecrets {
  return {
    ...toUser(user),
    accessKey: vault.unseal(user.accessKeySealed),
    token: vault.unseal(user.tokenSealed),
    tokenExpiresAt: user.tokenExpiresAt,
    s3AccessKey: user.s3AccessKey,
    s3SecretKey: vault.unseal(user.s3SecretKeySealed),
  };
}
