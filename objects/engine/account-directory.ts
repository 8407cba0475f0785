import type { AccountState, Caller, Refused } from '@granary/protocols/objects';

/** Users and accounts as the main thread answers for them: from the database, without waiting. */
export interface AccountDirectory {
  byS3Key(accessKey: string): { readonly caller: Caller; readonly secret: string } | Refused;
  byToken(token: string): { readonly caller: Caller; readonly expiresAt: number } | Refused;
  signIn(
    account: string,
    username: string,
    password: string,
    ip: string,
  ): Promise<{ readonly caller: Caller; readonly token: string; readonly expiresAt: number } | Refused>;
  account(idOrName: string): AccountState | undefined;
  accountsByMail(email: string): readonly string[];
  notificationSecret(seed: string): string;
  setAccountMetadata(account: string, changes: Readonly<Record<string, string | null>>): Promise<void>;
  /** Changes a second that the account has of its own: 0 for no limit, null where the array's holds. */
  ownLimit(account: string): number | null;
}
