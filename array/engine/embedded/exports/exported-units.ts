import type { IscsiTarget, LunAccess, ReservationStore, UnitOptions } from '@granary/protocols/iscsi';
import type { BlockDevice } from '@granary/storage';
import type { ExportedServer, ExportedUnit } from '../../engine.ts';
import { EngineError } from '../../errors.ts';

/** As many as there are numbers for LUNs. */
export const UNITS_MAX = 16_384;

const WWID = /^[0-9a-fA-F]{32}$/;

interface Shown {
  /** The target's own number; what servers see is in their maps. */
  readonly number: number;
  readonly wwid: string;
  readonly servers: Set<string>;
}

type FindDevice = (volume: string) => BlockDevice | undefined;

/** The volumes that any server may reach, each once: however many servers share it, and by whichever target, it is one disk. */
export class ExportedUnits {
  readonly #targets: readonly IscsiTarget[];
  readonly #reservations: ReservationStore;
  readonly #find: FindDevice;
  readonly #shown = new Map<string, Shown>();
  /** Volumes by their WWID. */
  readonly #owners = new Map<string, string>();
  readonly #free: number[] = [];
  #next = 0;

  constructor(targets: readonly IscsiTarget[], reservations: ReservationStore, find: FindDevice) {
    this.#targets = targets;
    this.#reservations = reservations;
    this.#find = find;
  }

  /** Shows what the server is to see and says under which numbers; a volume that is not there is left out. */
  async show({ id, units }: ExportedServer): Promise<Map<number, LunAccess>> {
    this.#check(units);
    const luns = new Map<number, LunAccess>();
    const fresh: [number, UnitOptions][] = [];
    for (const unit of units) {
      const known = this.#shown.get(unit.volume);
      if (known !== undefined && known.wwid !== unit.wwid) await this.#hide(unit.volume, known);
      const shown = this.#shown.get(unit.volume) ?? this.#add(unit, known?.servers ?? new Set(), fresh);
      shown?.servers.add(id);
      if (shown !== undefined) luns.set(unit.lun, { lun: shown.number, readOnly: unit.readOnly });
    }
    for (const target of this.#targets) target.setLuns(fresh);
    return luns;
  }

  /** Units that the server no longer sees are closed, unless another server sees them. */
  async leave(id: string, volumes: Iterable<string>): Promise<void> {
    const ends: Promise<void>[] = [];
    for (const volume of volumes) {
      const shown = this.#shown.get(volume);
      if (shown?.servers.delete(id) === true && shown.servers.size === 0) ends.push(this.#hide(volume, shown));
    }
    await Promise.all(ends);
  }

  /**
   * Resolves when no command uses the volume any more. Its number is free only after its initiators were notified: until
   * then it is in their maps, and must not stand for another volume.
   */
  async remove(volume: string, notify: (servers: readonly string[]) => Promise<void>): Promise<void> {
    const shown = this.#shown.get(volume);
    if (shown === undefined) return;
    await this.#removeUnit(volume, shown);
    await this.#reservations.save(shown.wwid, undefined);
    await notify([...shown.servers]);
    this.#free.push(shown.number);
  }

  resized(volume: string): void {
    const shown = this.#shown.get(volume);
    // The targets share the unit: its initiators hear of it once.
    if (shown !== undefined) this.#targets[0]?.lunResized(shown.number);
  }

  /** Before anything is changed: afterwards nothing can be refused. */
  #check(units: readonly ExportedUnit[]): void {
    const owners = new Map<string, string>();
    let room = UNITS_MAX - this.#shown.size;
    for (const { volume, wwid } of units) {
      if (!WWID.test(wwid)) throw new EngineError('invalid', `${wwid} is no WWID: it takes 32 hexadecimal digits.`);
      if ((owners.get(wwid) ?? this.#owners.get(wwid) ?? volume) !== volume) {
        throw new EngineError('invalid', `${volume} has the WWID of another volume.`);
      }
      owners.set(wwid, volume);
      if (!this.#shown.has(volume) && --room < 0) {
        throw new EngineError('invalid', `At most ${UNITS_MAX} volumes can be attached to servers; detach some first.`);
      }
    }
  }

  #add({ volume, wwid }: ExportedUnit, servers: Set<string>, fresh: [number, UnitOptions][]): Shown | undefined {
    const device = this.#find(volume);
    if (device === undefined) return undefined;
    const shown = { number: this.#free.pop() ?? this.#next++, wwid, servers };
    this.#shown.set(volume, shown);
    this.#owners.set(wwid, volume);
    fresh.push([shown.number, { device, serial: wwid, naa: wwid }]);
    return shown;
  }

  async #hide(volume: string, shown: Shown): Promise<void> {
    await this.#removeUnit(volume, shown);
    this.#free.push(shown.number);
  }

  async #removeUnit(volume: string, shown: Shown): Promise<void> {
    this.#shown.delete(volume);
    this.#owners.delete(shown.wwid);
    await Promise.all(this.#targets.map((target) => target.removeLun(shown.number)));
  }
}
