import { fail } from '@granary/kernel';
import type { SnapshotFilter } from './repository.ts';
import type { SnapshotService } from './service.ts';
import type { SnapshotInPlace } from './snapshot.ts';

interface Listed {
  readonly snapshots: readonly SnapshotInPlace[];
  readonly count: number;
}

/**
 * All snapshots that users see: those on record, then those that migrations work with. The engine makes and removes the
 * latter, so they are not on record, and they can be neither used, renamed nor deleted.
 */
export class SnapshotListing {
  readonly #snapshots: SnapshotService;
  readonly #working: () => readonly SnapshotInPlace[];

  constructor(snapshots: SnapshotService, working: () => readonly SnapshotInPlace[]) {
    this.#snapshots = snapshots;
    this.#working = working;
  }

  list(filter: SnapshotFilter): Listed {
    return this.#with(this.#working(), this.#snapshots.list(filter), filter);
  }

  listOfGroup(group: string, filter: SnapshotFilter): Listed {
    const working = this.#working().filter(({ consistencyGroup }) => consistencyGroup === group);
    return this.#with(working, this.#snapshots.listOfGroup(group, filter), filter);
  }

  get(name: string): SnapshotInPlace {
    return this.#working().find((one) => one.name === name) ?? this.#snapshots.get(name);
  }

  refuseWorking(name: string): void {
    if (!this.#working().some((one) => one.name === name)) return;
    throw fail('snapshot_needed', {
      id: name,
      needed: 'is what the migration of its volume works with; wait for the migration, or abort it.',
    });
  }

  #with(working: readonly SnapshotInPlace[], { snapshots, count }: Listed, filter: SnapshotFilter): Listed {
    const matching = working.filter((one) => fits(one, filter));
    const first = Math.max(0, filter.start - count);
    const room = filter.limit === 0 ? matching.length : filter.limit - snapshots.length;
    return { snapshots: [...snapshots, ...matching.slice(first, first + room)], count: count + matching.length };
  }
}

function fits(snapshot: SnapshotInPlace, { application, mirrorJob, policy, from, before }: SnapshotFilter): boolean {
  return (
    (application ?? snapshot.application) === snapshot.application &&
    (mirrorJob ?? snapshot.mirrorJob) === snapshot.mirrorJob &&
    (policy ?? snapshot.policy) === snapshot.policy &&
    (from ?? 0) <= snapshot.createdAt &&
    (before ?? Infinity) > snapshot.createdAt
  );
}
