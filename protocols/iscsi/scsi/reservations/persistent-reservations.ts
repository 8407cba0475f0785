import { nexusKey } from '../nexus-key.ts';
import type { Sharing } from '../sharing.ts';
import type { Registration, ReservationState, ReservationStore } from './reservation-store.ts';
import { Attention, type SenseData } from '../sense.ts';

export const ReservationType = {
  writeExclusive: 1,
  exclusiveAccess: 3,
  writeExclusiveRegistrantsOnly: 5,
  exclusiveAccessRegistrantsOnly: 6,
  writeExclusiveAllRegistrants: 7,
  exclusiveAccessAllRegistrants: 8,
} as const;

const TYPES: ReadonlySet<number> = new Set(Object.values(ReservationType));
const WRITE_EXCLUSIVE: ReadonlySet<number> = new Set([1, 5, 7]);
const FIRST_FOR_REGISTRANTS = 5;
const FIRST_FOR_ALL_REGISTRANTS = 7;
const REGISTRATIONS_MAX = 256;

const NO_KEY = '0000000000000000';

interface Reservation {
  readonly type: number;
  /** Who made it; with all-registrants types every registrant holds it. */
  readonly holder: string;
}

/** Unit attentions for others, and initiators whose commands must end. */
export interface Effects {
  readonly attentions: [nexus: string, attention: SenseData][];
  readonly removed: string[];
}

/** Why not: a conflict, or one of the errors with a sense of its own. */
export type Refusal = 'conflict' | 'invalid-release' | 'invalid-parameters' | 'invalid-cdb' | 'no-resources';

function isReservationType(type: number): boolean {
  return TYPES.has(type);
}

function isForAll(type: number): boolean {
  return type >= FIRST_FOR_ALL_REGISTRANTS;
}

/** The persistent reservations of one unit (SPC-4, section 5.13). Keyed by nexus; the rules, without bytes or sessions. */
export class PersistentReservations {
  readonly #serial: string;
  readonly #store: ReservationStore;
  readonly #registrations = new Map<string, Registration>();
  #reservation: Reservation | undefined;
  #generation = 0;
  #survivesPowerLoss = false;
  #saving: Promise<void> = Promise.resolve();

  constructor(serial: string, store: ReservationStore) {
    this.#serial = serial;
    this.#store = store;
    const state = store.load(serial);
    if (state === undefined) return;
    this.#survivesPowerLoss = true;
    for (const registration of state.registrations) this.#registrations.set(nexusKey(registration), registration);
    const keys = [...this.#registrations.keys()];
    if (state.reservation === undefined) return;
    const { type, holder } = state.reservation;
    this.#reservation = { type, holder: keys[holder ?? 0] ?? '' };
  }

  get generation(): number {
    return this.#generation;
  }

  get survivesPowerLoss(): boolean {
    return this.#survivesPowerLoss;
  }

  get reservation(): Reservation | undefined {
    return this.#reservation;
  }

  registrations(): IterableIterator<[string, Registration]> {
    return this.#registrations.entries();
  }

  hasRegistrations(): boolean {
    return this.#registrations.size > 0;
  }

  isRegistered(nexus: string): boolean {
    return this.#registrations.has(nexus);
  }

  isHolder(nexus: string): boolean {
    if (this.#reservation === undefined) return false;
    return isForAll(this.#reservation.type) ? this.isRegistered(nexus) : this.#reservation.holder === nexus;
  }

  /** The key shown as the holder's; zeros when every registrant holds it. */
  holderKey(): string {
    const reservation = this.#reservation;
    if (reservation === undefined || isForAll(reservation.type)) return NO_KEY;
    return this.#registrations.get(reservation.holder)?.key ?? NO_KEY;
  }

  conflicts(nexus: string, sharing: Sharing): boolean {
    if (this.#reservation === undefined || sharing === 'free' || this.isHolder(nexus)) return false;
    const { type } = this.#reservation;
    if (type >= FIRST_FOR_REGISTRANTS && this.isRegistered(nexus)) return false;
    return sharing === 'write' || !WRITE_EXCLUSIVE.has(type);
  }

  /** `given` is `undefined` for REGISTER AND IGNORE EXISTING KEY. A new key of zeros takes the registration away. */
  register(by: Registration, given: string | undefined, survives: boolean): Effects | Refusal {
    const nexus = nexusKey(by);
    const existing = this.#registrations.get(nexus);
    if (given !== undefined && given !== (existing?.key ?? NO_KEY)) return 'conflict';
    const effects = noEffects();
    if (by.key === NO_KEY) {
      if (existing !== undefined) this.#unregister(nexus, effects);
    } else {
      if (existing === undefined && this.#registrations.size >= REGISTRATIONS_MAX) return 'no-resources';
      this.#registrations.set(nexus, by);
    }
    this.#survivesPowerLoss = survives;
    this.#generation++;
    return effects;
  }

  reserve(nexus: string, key: string, type: number): Effects | Refusal {
    if (this.#registrations.get(nexus)?.key !== key) return 'conflict';
    if (!isReservationType(type)) return 'invalid-cdb';
    if (this.#reservation !== undefined) {
      return this.isHolder(nexus) && this.#reservation.type === type ? noEffects() : 'conflict';
    }
    this.#reservation = { type, holder: nexus };
    return noEffects();
  }

  release(nexus: string, key: string, type: number): Effects | Refusal {
    if (this.#registrations.get(nexus)?.key !== key) return 'conflict';
    if (this.#reservation === undefined || !this.isHolder(nexus)) return noEffects();
    if (this.#reservation.type !== type) return 'invalid-release';
    const effects = noEffects();
    this.#release(nexus, effects);
    return effects;
  }

  clear(nexus: string, key: string): Effects | Refusal {
    if (this.#registrations.get(nexus)?.key !== key) return 'conflict';
    const effects = noEffects();
    for (const other of this.#registrations.keys()) {
      if (other !== nexus) effects.attentions.push([other, Attention.reservationsPreempted]);
    }
    this.#registrations.clear();
    this.#reservation = undefined;
    this.#generation++;
    return effects;
  }

  preempt(nexus: string, key: string, victimKey: string, type: number): Effects | Refusal {
    if (this.#registrations.get(nexus)?.key !== key) return 'conflict';
    const current = this.#reservation;
    const allRegistrants = current !== undefined && isForAll(current.type);
    if (victimKey === NO_KEY && !allRegistrants) return 'invalid-parameters';
    const takes = current !== undefined && (allRegistrants ? victimKey === NO_KEY : this.holderKey() === victimKey);
    if (takes && !isReservationType(type)) return 'invalid-cdb';
    const isVictim = (registration: Registration) => victimKey === NO_KEY || registration.key === victimKey;
    const victims = [...this.#registrations].filter(([, registration]) => isVictim(registration));
    if (victims.length === 0) return 'conflict';

    const effects = noEffects();
    for (const [victim] of victims) {
      if (victim === nexus) continue;
      this.#registrations.delete(victim);
      effects.removed.push(victim);
      effects.attentions.push([victim, Attention.registrationsPreempted]);
    }
    if (takes) {
      if (current.type !== type) this.#notifyReleased(nexus, effects);
      this.#reservation = { type, holder: nexus };
    }
    this.#generation++;
    return effects;
  }

  /** Resolves when what was changed survives a loss of power, if it is to. */
  save(): Promise<void> {
    const state = this.#survivesPowerLoss ? this.#state() : undefined;
    const saved = this.#saving.then(() => this.#store.save(this.#serial, state));
    this.#saving = saved.catch(() => undefined);
    return saved;
  }

  #state(): ReservationState {
    const keys = [...this.#registrations.keys()];
    const registrations = [...this.#registrations.values()];
    if (this.#reservation === undefined) return { registrations };
    const { type, holder } = this.#reservation;
    if (isForAll(type)) return { registrations, reservation: { type } };
    return { registrations, reservation: { type, holder: keys.indexOf(holder) } };
  }

  #unregister(nexus: string, effects: Effects): void {
    const held = this.isHolder(nexus);
    this.#registrations.delete(nexus);
    if (!held || this.#reservation === undefined) return;
    if (isForAll(this.#reservation.type) && this.#registrations.size > 0) return;
    this.#release(nexus, effects);
  }

  #release(by: string, effects: Effects): void {
    const shared = (this.#reservation?.type ?? 0) >= FIRST_FOR_REGISTRANTS;
    this.#reservation = undefined;
    if (shared) this.#notifyReleased(by, effects);
  }

  #notifyReleased(by: string, effects: Effects): void {
    for (const other of this.#registrations.keys()) {
      if (other !== by) effects.attentions.push([other, Attention.reservationsReleased]);
    }
  }
}

function noEffects(): Effects {
  return { attentions: [], removed: [] };
}
