import type { Store } from '@granary/kernel';
import type { LifecycleFacts } from '../../shares/view.ts';
import { listRecords } from './repository.ts';
import type { ScannedShareRecord, ScanState } from './scanned-share.ts';

/**
 * What the records of shares say of file lifecycle. Kept in memory, because lists show thousands of volumes, and the same
 * object until something changes, so that whoever shows it knows.
 */
export class LifecycleRecords {
  readonly #store: Store;
  readonly #shown = new Map<string, LifecycleFacts>();
  #rows: ReadonlyMap<string, ScannedShareRecord> | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  invalidate(): void {
    this.#rows = undefined;
  }

  /** Undefined for a share that nobody ever had looked through. `live` is how far its scan is, if one is at work. */
  of(volume: string, live: ScanState | undefined): LifecycleFacts | undefined {
    this.#rows ??= new Map(this.#store.read(listRecords).map((row) => [row.volume, row]));
    const row = this.#rows.get(volume);
    if (!row) return undefined;
    const facts = factsOf(row, live);
    const before = this.#shown.get(volume);
    if (before && isSame(before, facts)) return before;
    this.#shown.set(volume, facts);
    return facts;
  }
}

function factsOf(row: ScannedShareRecord, live: ScanState | undefined): LifecycleFacts {
  const scan = row.scan === null ? undefined : (live ?? row.scan);
  return {
    life_cycle_policy_display_name: row.displayNames,
    life_cycle_policy_ext_name: row.names,
    flc_policy_name: row.names,
    flc_state: row.state,
    flc_scan_state: scanStateOf(row, live !== undefined),
    flc_scan_progress: scan ? progressOf(scan) : null,
    flc_scan_remaining_time_seconds: scan ? remainingSecondsOf(scan) : null,
  };
}

function isSame(left: LifecycleFacts, right: LifecycleFacts): boolean {
  return (Object.keys(left) as (keyof LifecycleFacts)[]).every((key) => left[key] === right[key]);
}

function scanStateOf(row: ScannedShareRecord, isRunning: boolean): 'idle' | 'scanning' | 'paused' | 'waiting' {
  if (row.scan === null) return 'idle';
  if (row.state === 'paused') return 'paused';
  return isRunning ? 'scanning' : 'waiting';
}

function progressOf({ seenFiles, totalFiles }: ScanState): number {
  return totalFiles === 0 ? 0 : Math.min(99, Math.floor((seenFiles * 100) / totalFiles));
}

/** At the pace it had so far. */
function remainingSecondsOf({ seenFiles, totalFiles, spentMs }: ScanState): number | null {
  if (seenFiles === 0) return null;
  return Math.ceil((Math.max(0, totalFiles - seenFiles) * spentMs) / seenFiles / 1_000);
}
