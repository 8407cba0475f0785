import type { ArrayRole } from '@granary/contract/array';

export interface User {
  readonly id: number;
  readonly username: string;
  readonly email: string | null;
  readonly role: ArrayRole;
  readonly createdAt: number;
}

export interface UserWithKey extends User {
  readonly accessKey: string;
}

/** With the user's credentials: a hash of the password, and the access key, sealed and by its fingerprint. */
export interface UserRecord extends User {
  readonly passwordHash: string;
  readonly sealedKey: string;
  readonly keyMark: string;
}

export type NewUser = Omit<UserRecord, 'id'>;
