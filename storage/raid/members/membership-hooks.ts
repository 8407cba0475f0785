import type { OnGroupEvent } from '../events.ts';
import type { Member } from './member.ts';
import type { MembershipRecord } from '../options.ts';

/** What a membership needs of its group. */
export interface MembershipHooks {
  readonly onEvent: OnGroupEvent;
  /** Resolves when no write is in flight; new writes wait until the change is recorded. */
  readonly drain: () => Promise<void>;
  /** Work that has to be done while the old membership is in force. */
  readonly beforeChange: () => Promise<void>;
  readonly flushMembers: () => Promise<void>;
  readonly afterChange: () => Promise<void>;
  /** The drives have recorded the membership. */
  readonly afterRecord: (record: MembershipRecord) => Promise<void>;
  readonly dropPages: (member: Member) => void;
}
