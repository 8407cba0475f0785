import { ObjectError } from '../errors.ts';
import { formatDrive } from '../drives/identity.ts';
import { DriveWatch, FIRST_INSPECTION_MS_MAX, makeFolder, probe, type Sight } from './drive-watch.ts';
import {
  counter,
  type DriveRow,
  dropDrive,
  liveOn,
  saveDrive,
  savePolicy,
  setCounter,
  allocateDriveNumber,
  allocatePolicyNumber,
} from './drive-catalogue.ts';
import type { LayoutState } from './layout-state.ts';
import type { WantedDrive, WantedPolicy } from './manager-types.ts';

const LONGEST_RETRY_MS = 5 * 60_000;
/** A drive that was there and only does not say so is used on for so long: a busy disk is no lost one. */
const SILENT_MS_MAX = 30_000;

export interface RosterOptions {
  readonly lostAfterMs: number;
  readonly retryMs: number;
}

/** Which drives there are: those the array was given, and whether each of them is really there. */
export class DriveRegistry {
  readonly #state: LayoutState;
  readonly #lostAfterMs: number;
  readonly #retryMs: number;
  readonly #watch = new DriveWatch();
  /** When drives that were there began to be silent. */
  readonly #silentSince = new Map<number, number>();
  #wanted: ReadonlySet<string> = new Set();

  constructor(state: LayoutState, { lostAfterMs, retryMs }: RosterOptions) {
    this.#state = state;
    this.#lostAfterMs = lostAfterMs;
    this.#retryMs = retryMs;
  }

  isWanted(row: DriveRow): boolean {
    return this.#wanted.has(row.uuid);
  }

  /** A policy keeps its number and its way of coding for good. */
  async followPolicies(wanted: readonly WantedPolicy[]): Promise<void> {
    for (const policy of wanted) {
      const known = this.#state.policies.find(({ name }) => name === policy.name);
      if (!known) continue;
      const isSame =
        known.copies === policy.copies &&
        known.dataFragments === policy.dataFragments &&
        known.parityFragments === policy.parityFragments;
      if (!isSame) throw new ObjectError('invalid-state', `Policy ${policy.name} cannot change how it keeps objects.`);
    }
    const fresh = wanted.filter(({ name }) => !this.#state.policies.some((known) => known.name === name));
    if (fresh.length === 0) return;
    await this.#state.change((db) => {
      for (const policy of fresh) savePolicy(db, { ...policy, index: allocatePolicyNumber(db) });
    });
    this.#state.reload();
  }

  async followDrives(wanted: readonly WantedDrive[]): Promise<void> {
    const resolved = wanted.map((drive) => ({ drive, policy: this.#policyOf(drive) }));
    this.#wanted = new Set(wanted.map(({ uuid }) => uuid));
    for (const { drive, policy } of resolved) {
      if (policy === undefined) continue;
      const row = this.#state.drives.find(({ uuid }) => uuid === drive.uuid);
      if (row) await this.#bringInLine(row, drive);
      else await this.#welcome(drive, policy);
    }
    await this.#countBatches();
    await this.#dismiss();
    this.#state.reload();
  }

  /** Looks at every drive at once; what was found is applied by `apply`. */
  inspect(): Promise<{ readonly row: DriveRow; readonly sight: Sight }[]> {
    const due = this.#state.drives.filter(({ number }) => this.#state.presence(number).retryAt <= this.#state.now());
    return Promise.all(
      due.map(async (row) => {
        const { failures, isPresent, absentSince } = this.#state.presence(row.number);
        const isUnknown = !isPresent && absentSince === null;
        const sight = await this.#watch.inspect(row.folder, row.uuid, isUnknown ? FIRST_INSPECTION_MS_MAX : undefined);
        if (sight.found !== 'there' || failures === 0 || isPresent) return { row, sight };
        return { row, sight: (await probe(row.folder)) ?? sight };
      }),
    );
  }

  async apply(seen: DriveRow, sight: Sight): Promise<void> {
    const row = this.#state.drive(seen.number);
    if (row?.folder !== seen.folder) return;
    if (sight.found !== 'silent') this.#silentSince.delete(row.number);
    else if (this.#isTrusted(row.number)) return;
    if (sight.found === 'there' && sight.number === row.number) {
      await this.#isThere(row);
      return;
    }
    if (sight.found === 'there' && !this.#state.drive(sight.number)) {
      // An empty folder stood in for it, as under a disk that is not mounted: with its number all that is on it is back.
      await this.#renumber(row, sight.number);
      this.#isBack(row, sight.number, false);
      return;
    }
    this.#isAbsent(row, reasonOf(sight));
    if (sight.found === 'empty') await this.#renew(row);
    if (sight.found === 'missing' && this.#isAwayFor(row, this.#lostAfterMs) && (await makeFolder(row.folder))) {
      await this.#renew(row);
    }
  }

  /** A thread could not use it: it has to show that it works before it is used again. */
  failed(number: number, reason: string): void {
    const row = this.#state.drive(number);
    if (!row || !this.#state.isLive(number)) return;
    this.#isAbsent(row, reason);
    const presence = this.#state.presence(number);
    const failures = presence.failures + 1;
    const retryAt = this.#state.now() + Math.min(this.#retryMs * 2 ** (failures - 1), LONGEST_RETRY_MS);
    this.#state.setPresence(number, { ...presence, failures, retryAt });
  }

  /** Drives away for so long that others should take over, where others can. */
  async replaceLost(): Promise<void> {
    for (const row of this.#state.drives) {
      if (row.stage !== 'joined' || !this.#isAwayFor(row, this.#lostAfterMs)) continue;
      const others = this.#state
        .drivesOf(row.policy)
        .filter((one) => one.stage === 'joined' && one.number !== row.number && this.#state.isLive(one.number));
      if (others.length < this.#state.slotsOf(row.policy)) continue;
      await this.#save({ ...row, stage: 'lost' });
    }
  }

  /** Refused when too few drives, or too little space, would be left. */
  async startLeaving(policy: number, uuids: readonly string[], usedBytes: (drive: number) => number): Promise<void> {
    const rows = this.#state.drivesOf(policy);
    const unknown = uuids.find((uuid) => !rows.some((row) => row.uuid === uuid));
    if (unknown !== undefined) throw new ObjectError('invalid-state', `The policy has no drive ${unknown}.`);
    const going = rows.filter((row) => uuids.includes(row.uuid) && row.stage !== 'left');
    const staying = rows.filter((row) => !uuids.includes(row.uuid) && ['joined', 'waiting'].includes(row.stage));
    const slots = this.#state.slotsOf(policy);
    if (staying.length < slots) {
      throw new ObjectError('invalid-state', `The policy needs ${slots} drives and would have ${staying.length}.`);
    }
    const toMove = going.reduce((sum, { number }) => sum + liveOn(this.#state.reader, number), 0);
    const freeBytes = staying.reduce((sum, { number, capacity }) => sum + capacity - usedBytes(number), 0);
    if (toMove > freeBytes) {
      throw new ObjectError(
        'no-space',
        `${toMove} bytes have to move and the other drives have space for ${freeBytes}.`,
      );
    }
    for (const row of going) await this.#startLeaving(row);
  }

  /** Whether a drive has left: nothing lives on it, and from then on nothing is entered that was put there. */
  async leave(row: DriveRow): Promise<boolean> {
    const hasLeft = await this.#state.change((db) => {
      if (liveOn(db, row.number) > 0) return false;
      saveDrive(db, { ...row, stage: 'left' });
      return true;
    });
    this.#state.reload();
    return hasLeft;
  }

  async drop(row: DriveRow): Promise<void> {
    await this.#state.change((db) => dropDrive(db, row.number));
    this.#state.reload();
  }

  /** One that waits to join may have pieces, too, in place of a drive that failed; most have none and leave at once. */
  async #startLeaving(row: DriveRow): Promise<boolean> {
    if (row.stage === 'waiting' && (await this.leave(row))) return true;
    await this.#save({ ...row, stage: 'leaving' });
    return false;
  }

  #policyOf(drive: WantedDrive): number | undefined {
    if (drive.policy === null) return this.#state.policies[0]?.index;
    return this.#state.policyNamed(drive.policy).index;
  }

  async #bringInLine(row: DriveRow, drive: WantedDrive): Promise<void> {
    const { folder, node, zone, capacity } = drive;
    if (row.folder === folder && row.node === node && row.zone === zone && row.capacity === capacity) return;
    await this.#save({ ...row, folder, node, zone, capacity });
  }

  async #welcome(drive: WantedDrive, policy: number): Promise<void> {
    const sight = await this.#watch.inspect(drive.folder, drive.uuid, FIRST_INSPECTION_MS_MAX);
    const { uuid, folder, node, zone, capacity } = drive;
    const row = { uuid, folder, node, zone, capacity, policy, stage: 'waiting', batch: 0 } as const;
    // A number that is not in use comes back with its drive: it was never given to another.
    const returned = sight.found === 'there' && !this.#state.drive(sight.number) ? sight.number : undefined;
    const number = await this.#state.change((db) => {
      const given = returned ?? allocateDriveNumber(db);
      setCounter(db, 'next-drive', Math.max(counter(db, 'next-drive'), given + 1));
      saveDrive(db, { ...row, number: given });
      return given;
    });
    this.#state.reload();
    if (sight.found === 'empty' || sight.found === 'missing') await this.#format(folder, uuid, number);
  }

  /** Those that wait together make one batch, whenever they came. */
  async #countBatches(): Promise<void> {
    for (const policy of this.#state.policies) {
      const waiting = this.#state.drivesOf(policy.index).filter(({ stage }) => stage === 'waiting');
      if (!waiting.some(({ batch }) => batch === 0)) continue;
      for (const row of waiting) await this.#save({ ...row, batch: waiting.length });
    }
  }

  /** Drives that are not wanted any more leave; one that never joined just goes. */
  async #dismiss(): Promise<void> {
    for (const row of this.#state.drives) {
      if (this.isWanted(row)) continue;
      if (row.stage !== 'joined' && row.stage !== 'waiting') continue;
      if (await this.#startLeaving(row)) await this.drop(row);
    }
  }

  async #isThere(row: DriveRow): Promise<void> {
    const before = this.#state.presence(row.number);
    if (before.isPresent) {
      const isSound = before.failures > 0 && this.#state.now() - before.backAt > LONGEST_RETRY_MS;
      if (isSound) this.#state.setPresence(row.number, { ...before, failures: 0 });
      return;
    }
    const backAt = this.#state.now();
    this.#state.setPresence(row.number, { ...before, isPresent: true, absentSince: null, retryAt: 0, backAt });
    if (row.stage === 'lost') await this.#save({ ...row, stage: 'waiting', batch: 1 });
    if (before.absentSince !== null) this.#state.publish({ kind: 'drive-back', uuid: row.uuid, empty: false });
  }

  /** Of a silent drive. */
  #isTrusted(number: number): boolean {
    if (!this.#state.presence(number).isPresent) return false;
    const since = this.#silentSince.get(number) ?? this.#state.now();
    this.#silentSince.set(number, since);
    return this.#state.now() - since < SILENT_MS_MAX;
  }

  #isAbsent(row: DriveRow, reason: string): void {
    const before = this.#state.presence(row.number);
    if (before.absentSince !== null) return;
    this.#state.setPresence(row.number, { ...before, isPresent: false, absentSince: this.#state.now() });
    // One that has left is on its way back to where it came from.
    if (row.stage !== 'left') this.#state.publish({ kind: 'drive-absent', uuid: row.uuid, reason });
  }

  /** It came back with nothing on it: a new number, because the places that name the old one are gone. */
  async #renew(row: DriveRow): Promise<void> {
    const number = await this.#state.change(allocateDriveNumber);
    await this.#renumber(row, number);
    if (await this.#format(row.folder, row.uuid, number)) this.#isBack(row, number, true);
  }

  async #renumber(row: DriveRow, number: number): Promise<void> {
    const next: DriveRow = { ...row, number, ...(row.stage === 'lost' && { stage: 'waiting', batch: 1 }) };
    const ring = this.#state.ring(row.policy);
    if (ring) {
      const drives = ring.drives.map((drive) => (drive === row.number ? number : drive));
      await this.#state.placeAnew(row.policy, { ...ring, version: ring.version + 1, drives }, (db) => {
        dropDrive(db, row.number);
        saveDrive(db, next);
      });
    } else {
      await this.#state.change((db) => {
        dropDrive(db, row.number);
        saveDrive(db, next);
      });
      this.#state.reload();
    }
  }

  #isBack({ uuid }: DriveRow, number: number, empty: boolean): void {
    const backAt = this.#state.now();
    this.#state.setPresence(number, { isPresent: true, absentSince: null, failures: 0, retryAt: 0, backAt });
    this.#state.publish({ kind: 'drive-back', uuid, empty });
  }

  /** What cannot be made a drive now is looked at again later. */
  async #format(folder: string, uuid: string, number: number): Promise<boolean> {
    try {
      await formatDrive(folder, { uuid, number });
      return true;
    } catch (error) {
      const row = this.#state.drive(number);
      if (row) this.#isAbsent(row, error instanceof Error ? error.message : String(error));
      return false;
    }
  }

  #isAwayFor({ number }: DriveRow, ms: number): boolean {
    const { absentSince } = this.#state.presence(number);
    return absentSince !== null && this.#state.now() - absentSince >= ms;
  }

  async #save(row: DriveRow): Promise<void> {
    await this.#state.change((db) => saveDrive(db, row));
    this.#state.reload();
  }
}

function reasonOf(sight: Sight): string {
  if (sight.found === 'failing') return sight.reason;
  if (sight.found === 'silent') return 'it does not answer';
  if (sight.found === 'there') return `its identity says that it is drive ${sight.number}`;
  return sight.found === 'empty' ? 'its folder is empty' : 'its folder is missing';
}
