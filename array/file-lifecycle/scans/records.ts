import type { Store } from '@granary/kernel';
import type { LifecycleFacts } from '../../shares/view.ts';
import { listRecords } from './repository.ts';
import type { ScannedShareRecord, ScanState } from './scanned-share.ts';

/**
 * What the records of shares say of file lifecycle. Kept in memory, because lists show thousands of volumes, and the same
 * object until something changes, so that views can be cached by it.
 */
export class LifecycleRecords {
  readonly #store: Store;
  readonly #shown = new Map<string, LifecycleFacts>();
  #records: ReadonlyMap<string, ScannedShareRecord> | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  invalidate(): void {
    this.#records = undefined;
  }

  /** Undefined for a share that was never scanned. `live` is the progress of its scan, while one runs. */
  of(volume: string, live: ScanState | undefined): LifecycleFacts | undefined {
    this.#records ??= new Map(this.#store.read(listRecords).map((share) => [share.volume, share]));
    const scanned = this.#records.get(volume);
    if (!scanned) return undefined;
    const facts = factsOf(scanned, live);
    const before = this.#shown.get(volume);
    if (before && isSame(before, facts)) return before;
    this.#shown.set(volume, facts);
    return facts;
  }
}

function factsOf(share: ScannedShareRecord, live: ScanState | undefined): LifecycleFacts {
  const scan = share.scan === null ? undefined : (live ?? share.scan);
  return {
    life_cycle_policy_display_name: share.displayNames,
    life_cycle_policy_ext_name: share.names,
    flc_policy_name: share.names,
    flc_state: share.state,
    flc_scan_state: scanStateOf(share, live !== undefined),
    flc_scan_progress: scan ? progressOf(scan) : null,
    flc_scan_remaining_time_seconds: scan ? remainingSecondsOf(scan) : null,
  };
}

function isSame(left: LifecycleFacts, right: LifecycleFacts): boolean {
  return (Object.keys(left) as (keyof LifecycleFacts)[]).every((key) => left[key] === right[key]);
}

function scanStateOf(share: ScannedShareRecord, isRunning: boolean): 'idle' | 'scanning' | 'paused' | 'waiting' {
  if (share.scan === null) return 'idle';
  if (share.state === 'paused') return 'paused';
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
