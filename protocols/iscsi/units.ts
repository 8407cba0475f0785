import type { Limits } from './limits.ts';
import { LogicalUnit, type UnitOptions } from './scsi/logical-unit.ts';
import type { ReservationStore } from './scsi/reservations/reservation-store.ts';
import type { UnitRegistry } from './target.ts';

/** The units of a server by serial: a volume shown by several targets is one unit with one set of reservations. */
export class Units implements UnitRegistry {
  readonly limits: Limits;
  readonly #store: ReservationStore;
  readonly #units = new Map<string, { unit: LogicalUnit; uses: number }>();

  constructor(limits: Limits, store: ReservationStore) {
    this.limits = limits;
    this.#store = store;
  }

  acquire(options: UnitOptions): LogicalUnit {
    const known = this.#units.get(options.serial);
    if (known === undefined) {
      const unit = new LogicalUnit(options, this.limits.transferBytesMax, this.#store);
      this.#units.set(options.serial, { unit, uses: 1 });
      return unit;
    }
    if (known.unit.device !== options.device) {
      throw new RangeError(`another device is shown with the serial ${options.serial}; remove it first`);
    }
    known.uses++;
    return known.unit;
  }

  release(unit: LogicalUnit): void {
    const known = this.#units.get(unit.identity.serial);
    if (known?.unit !== unit) return;
    if (--known.uses === 0) this.#units.delete(unit.identity.serial);
  }
}
