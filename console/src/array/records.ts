import type { RecordOf } from '@granary/contract';
import type {
  Drive as DriveRecord,
  Message as MessageRecord,
  Pool as PoolRecord,
  RaidGroup as RaidGroupRecord,
  Server as ServerRecord,
  Snapshot as SnapshotRecord,
  Volume as VolumeRecord,
  VolumeServer as VolumeServerRecord,
} from '@granary/contract/array';

/** The records of the array's API, by their names there. */
export type Drive = RecordOf<typeof DriveRecord>;
export type Message = RecordOf<typeof MessageRecord>;
export type Pool = RecordOf<typeof PoolRecord>;
export type RaidGroup = RecordOf<typeof RaidGroupRecord>;
export type Server = RecordOf<typeof ServerRecord>;
export type Snapshot = RecordOf<typeof SnapshotRecord>;
export type Volume = RecordOf<typeof VolumeRecord>;
export type VolumeServer = RecordOf<typeof VolumeServerRecord>;

/** That a server is not connected is no fault: it may be switched off, or new. */
export function connectionOf({ status }: Pick<Server, 'status'>): string {
  return status === 'Disconnected' ? 'not connected' : status;
}

/** Neither serves nor can serve: it failed, was taken out of service or is away. */
export function isOut({ status }: Pick<Drive, 'status'>): boolean {
  return status === 'Failed' || status === 'Absent';
}

/** In no RAID group, and could be in one. */
export function isFree(drive: Pick<Drive, 'status' | 'usage'>): boolean {
  return drive.usage === 'Available' && !isOut(drive);
}

export function isShare({ data_type }: Pick<Volume, 'data_type'>): boolean {
  return data_type === 'File-System';
}

/** `Recovering 40%` → 40; undefined where a state tells no progress. */
export function progressIn(status: string): number | undefined {
  const found = /(\d+)\s*%/.exec(status)?.[1];
  return found === undefined ? undefined : Number(found);
}

export function poolUsed({ capacity, available_capacity: free }: Pool): number {
  return Math.max(0, capacity - free);
}

/** The names in a comma list. */
export function namesIn(list: string | null): string[] {
  return (list ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
}

interface Named {
  readonly name: string;
  readonly display_name: string;
}

/** What a form offers to choose from, with what tells them apart. */
export function choicesOf<T extends Named>(all: readonly T[], detail: (one: T) => string) {
  return all.map((one) => ({ value: one.name, label: `${one.display_name} · ${detail(one)}` }));
}
