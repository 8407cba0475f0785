import type { UserId } from '../ids.ts';

/** What a user signs in with besides the password. */
export interface TotpFactor {
  readonly userId: UserId;
  readonly secretSealed: string;
  /** Null until a code showed that the app has the secret: until then it is not asked for. */
  readonly confirmedAt: number | null;
  /** The time step of the code that was used last: a code is good once. */
  readonly lastStep: number;
  /** Of the recovery codes that were not used. */
  readonly recoveryMarks: readonly string[];
}
