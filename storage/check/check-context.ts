import type { Database, SqlValue } from '@granary/kernel/sqlite';
import type { BlockGroup } from '../raid/group.ts';
import type { Finding as GroupFinding } from '../raid/repair/verify.ts';

/** A group that can verify itself; a group in memory cannot. */
export interface CheckedGroup extends BlockGroup {
  verify?(): Promise<GroupFinding[]>;
  scrub?(): Promise<unknown>;
}

/** What a part of the check reads, and where it reports findings. */
export interface CheckContext {
  readonly database: Database;
  readonly repair: boolean;
  readonly groups: ReadonlyMap<string, CheckedGroup>;
  /** Changes the metadata, as part of a repair. */
  change(sql: string, ...values: SqlValue[]): void;
  /** Records a finding; the repair, if any, runs only when repairs are requested. */
  found(what: string, repair?: () => void | Promise<void>): Promise<void>;
}
