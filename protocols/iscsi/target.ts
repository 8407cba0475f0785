import type { BlockDevice } from '@granary/storage';
import type { Limits } from './limits.ts';
import type { ChapSecrets } from './login/chap.ts';
import { LogicalUnit, type UnitOptions } from './scsi/logical-unit.ts';
import { Attention } from './scsi/sense.ts';
import type { IscsiSession, SessionTarget, VisibleUnit } from './session/session.ts';

/** What an initiator may do at a target. */
export interface Access {
  /** The label that the authorisation gives the initiator; sessions and events have it. */
  readonly label?: string;
  readonly chap?: ChapSecrets;
  readonly readOnly?: boolean;
  /** Which of the target's LUNs the initiator sees, and under what number. Left out: all, under their own. */
  readonly luns?: ReadonlyMap<number, LunAccess>;
}

export interface LunAccess {
  /** The number the target knows the unit by. */
  readonly lun: number;
  readonly readOnly?: boolean;
}

export interface TargetOptions {
  readonly iqn: string;
  readonly alias?: string;
  /** Who may come in, asked at every login and discovery; `undefined` keeps the initiator out. */
  authorise(initiatorName: string, remoteAddress: string): Access | undefined;
}

export interface SessionInfo {
  /** Names the session to `dropSession`. */
  readonly id: number;
  readonly initiator: string;
  readonly initiatorAlias: string;
  readonly address: string;
  readonly label: string;
  readonly isid: string;
  readonly connections: number;
  readonly commands: number;
  readonly reads: number;
  readonly writes: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
  /** From the arrival of each command to its answer. */
  readonly readMilliseconds: number;
  readonly writeMilliseconds: number;
}

/** Where targets get their units from: the same volume is the same unit under every target. */
export interface UnitRegistry {
  readonly limits: Limits;
  acquire(options: UnitOptions): LogicalUnit;
  release(unit: LogicalUnit): void;
}

const LUN_MAX = 0x3fff;
const SERIAL = /^[\x20-\x7e]{1,128}$/;
const NAA = /^([0-9a-fA-F]{16}|[0-9a-fA-F]{32})$/;

export class IscsiTarget implements SessionTarget {
  readonly iqn: string;
  readonly alias: string | undefined;
  readonly #options: TargetOptions;
  readonly #registry: UnitRegistry;
  readonly #luns = new Map<number, LogicalUnit>();
  readonly #sessions = new Map<IscsiSession, Access>();

  constructor(options: TargetOptions, registry: UnitRegistry) {
    this.iqn = options.iqn;
    this.alias = options.alias;
    this.#options = options;
    this.#registry = registry;
  }

  authorise(initiatorName: string, remoteAddress: string): Access | undefined {
    return this.#options.authorise(initiatorName, remoteAddress);
  }

  /** Shows a device under a free number; initiators of the target are notified. */
  setLun(lun: number, options: UnitOptions): void {
    this.setLuns([[lun, options]]);
  }

  /** Many at once cost sessions one look. */
  setLuns(units: Iterable<readonly [lun: number, options: UnitOptions]>): void {
    for (const [lun, options] of units) {
      this.#checkLun(lun, options);
      this.#luns.set(lun, this.#registry.acquire(options));
    }
    this.#refresh();
  }

  #checkLun(lun: number, { serial, naa }: UnitOptions): void {
    if (!Number.isInteger(lun) || lun < 0 || lun > LUN_MAX) throw new RangeError(`a LUN is from 0 to ${LUN_MAX}`);
    if (this.#luns.has(lun)) throw new RangeError(`LUN ${lun} is taken; remove it first`);
    if (this.#luns.size >= this.#registry.limits.lunsPerTargetMax) {
      throw new RangeError(`a target takes ${this.#registry.limits.lunsPerTargetMax} LUNs; add another target`);
    }
    if (!SERIAL.test(serial)) throw new RangeError('a serial is 1 to 128 printable characters');
    if (!NAA.test(naa)) throw new RangeError('an NAA identifier is 16 or 32 hexadecimal digits');
  }

  /** Takes a unit away. Resolves when no command uses its device any more, so that it can be closed. */
  async removeLun(lun: number): Promise<void> {
    const unit = this.#luns.get(lun);
    if (unit === undefined) return;
    this.#luns.delete(lun);
    const ends = [...this.#sessions.keys()].map((session) => session.abortTasks(unit, true));
    this.#refresh();
    this.#registry.release(unit);
    await Promise.all(ends);
    await unit.whenIdle();
  }

  /** The device behind a LUN has another size now; initiators get a unit attention. */
  lunResized(lun: number): void {
    this.#luns.get(lun)?.raise(Attention.capacityChanged);
  }

  device(lun: number): BlockDevice | undefined {
    return this.#luns.get(lun)?.device;
  }

  lunNumbers(): number[] {
    return [...this.#luns.keys()].sort((one, other) => one - other);
  }

  /** Calls `authorise` again for every session: changes take effect at once. */
  accessChanged(): void {
    for (const session of [...this.#sessions.keys()]) {
      const before = this.#sessions.get(session);
      const access = this.authorise(session.initiatorName, session.link.address);
      if (access === undefined) this.#drop(session, 'access was taken away');
      else if (before?.label === access.label && isProvenBy(before?.chap, access.chap))
        this.#sessions.set(session, access);
      else this.#drop(session, 'it has to prove itself anew');
    }
    this.#refresh();
  }

  sessions(): SessionInfo[] {
    return [...this.#sessions.keys()].map((session) => ({
      id: session.handle,
      initiator: session.initiatorName,
      initiatorAlias: session.initiatorAlias,
      address: session.link.address,
      label: session.label,
      isid: session.isid,
      connections: 1,
      ...session.counters,
    }));
  }

  /** False when there is no such session. */
  dropSession(id: number): boolean {
    const session = [...this.#sessions.keys()].find(({ handle }) => handle === id);
    if (session !== undefined) this.#drop(session, 'dropped by the administrator');
    return session !== undefined;
  }

  dropSessions(reason: string): void {
    for (const session of [...this.#sessions.keys()]) this.#drop(session, reason);
  }

  #drop(session: IscsiSession, reason: string): void {
    session.announceDrop();
    void session.close();
    session.link.end(reason);
  }

  /** The older session of the same initiator port, which a new one replaces. */
  sessionOf(initiatorName: string, isid: string): IscsiSession | undefined {
    for (const session of this.#sessions.keys()) {
      if (session.initiatorName === initiatorName && session.isid === isid) return session;
    }
    return undefined;
  }

  get sessionCount(): number {
    return this.#sessions.size;
  }

  admit(session: IscsiSession, access: Access): void {
    this.#sessions.set(session, access);
    session.refreshUnits();
  }

  removeSession(session: IscsiSession): void {
    this.#sessions.delete(session);
  }

  visibleUnits(session: IscsiSession): ReadonlyMap<number, VisibleUnit> {
    const access = this.#sessions.get(session);
    const visible = new Map<number, VisibleUnit>();
    if (access === undefined) return visible;
    const readOnly = access.readOnly ?? false;
    if (access.luns === undefined) {
      for (const [lun, unit] of this.#luns) visible.set(lun, { unit, readOnly });
      return visible;
    }
    for (const [shown, lunAccess] of access.luns) {
      const unit = this.#luns.get(lunAccess.lun);
      if (unit !== undefined) visible.set(shown, { unit, readOnly: readOnly || (lunAccess.readOnly ?? false) });
    }
    return visible;
  }

  async resetUnits(): Promise<void> {
    await Promise.all([...this.#luns.values()].map((unit) => unit.reset()));
  }

  /** Ends every session; resolves when no command uses any device of this target. */
  async close(): Promise<void> {
    const ends = [...this.#sessions.keys()].map((session) => {
      this.#drop(session, 'the target was removed');
      return session.close();
    });
    await Promise.all(ends);
    await Promise.all(this.lunNumbers().map((lun) => this.removeLun(lun)));
  }

  #refresh(): void {
    for (const session of this.#sessions.keys()) if (session.refreshUnits()) session.notifyLunsChanged();
  }
}

/** Whether a proof of the one secret admits where the other is asked for. An optional secret may not have been shown. */
export function isProvenBy(before: ChapSecrets | undefined, now: ChapSecrets | undefined): boolean {
  if (now === undefined || now.isOptional === true) return true;
  const shown = before?.isOptional === true ? undefined : before;
  return shown?.user === now.user && shown.secret === now.secret;
}
