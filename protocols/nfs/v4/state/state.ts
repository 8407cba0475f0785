import type { LockedFile, ShareReservation } from '../../../locks/index.ts';
import type { Place } from '../../namespace/namespace.ts';
import type { StateOwner } from './owner.ts';
import type { StateId } from './state-id.ts';

abstract class State {
  readonly owner: StateOwner;
  readonly place: Place;
  readonly file: LockedFile;
  readonly number: number;
  /** Counts the changes of the state; part of its id. */
  sequence = 1;

  constructor(number: number, owner: StateOwner, place: Place, file: LockedFile) {
    this.number = number;
    this.owner = owner;
    this.place = place;
    this.file = file;
  }

  get client() {
    return this.owner.client;
  }

  get id(): StateId {
    return { sequence: this.sequence, client: this.client.number, number: this.number };
  }

  changed(): StateId {
    this.sequence = this.sequence === 0xffff_ffff ? 1 : this.sequence + 1;
    return this.id;
  }
}

/** A file that an owner has open. */
export class OpenState extends State implements ShareReservation {
  readonly kind = 'open';
  access: number;
  deny: number;
  /** The filesystem keeps the file for it. */
  isHeld = false;
  readonly locks = new Set<LockState>();

  constructor(number: number, owner: StateOwner, place: Place, file: LockedFile, share: ShareReservation) {
    super(number, owner, place, file);
    this.access = share.access;
    this.deny = share.deny;
  }
}

/** The locks of an owner on a file that is open. */
export class LockState extends State {
  readonly kind = 'lock';
  readonly open: OpenState;

  constructor(number: number, owner: StateOwner, open: OpenState) {
    super(number, owner, open.place, open.file);
    this.open = open;
  }
}

export type AnyState = OpenState | LockState;
