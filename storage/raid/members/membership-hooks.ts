import type { OnGroupEvent } from '../events.ts';
import type { Member } from './member.ts';
import type { MembershipRecord } from '../options.ts';

/** What a membership asks of its group. */
export interface MembershipHooks {
  readonly onEvent: OnGroupEvent;
  /** Resolves when no write is under way; new ones wait until the change is on record. */
  readonly drain: () => Promise<void>;
  /** What has to be put in order while the members are still what they were. */
  readonly beforeChange: () => Promise<void>;
  readonly flushMembers: () => Promise<void>;
  readonly afterChange: () => Promise<void>;
  /** The drives have it on record. */
  readonly afterRecord: (record: MembershipRecord) => Promise<void>;
  readonly dropPages: (member: Member) => void;
}
