import type { RunningJob } from '@granary/kernel';
import type { PortalArray } from '../array.ts';

/** How far an earlier run of an opening got. */
export interface Opened {
  readonly remoteId: string;
  readonly whole: boolean;
}

export type OpeningJob = Pick<RunningJob<unknown, Opened>, 'attempts' | 'checkpoint' | 'save'>;

export interface NewServiceAccount {
  readonly name: string;
  readonly administrator: { readonly username: string; readonly email: string; readonly password: string };
}

/** What a public service asks of the accounts of its array. */
export interface ServiceAccounts {
  /** Opens the account with its administrator; safe to repeat. Returns the account's id on the array. */
  open(job: OpeningJob, array: PortalArray, account: NewServiceAccount): Promise<string>;
  refuseTaken(array: PortalArray, name: string): Promise<void>;
  changePassword(
    array: PortalArray,
    administrator: { readonly account: string; readonly username: string },
    passwords: { readonly before: string; readonly after: string },
  ): Promise<void>;
  /** True once the account is deleted with all it held. */
  close(array: PortalArray, id: string): Promise<boolean>;
  /** Also its billing data: for an account that was never used. */
  erase(array: PortalArray, id: string): Promise<void>;
}
