import type { BlockDevice } from '@granary/storage';
import type { Attachment } from './nexus.ts';
import { PersistentReservations } from './reservations/persistent-reservations.ts';
import { CommandLock } from './blocks/command-lock.ts';
import type { ReservationStore } from './reservations/reservation-store.ts';
import { Attention, type SenseData } from './sense.ts';

export const SECTOR_BYTES = 512;

/** How a unit introduces itself. */
export interface UnitIdentity {
  /** Unique among everything the server exports; the same volume under two targets has the same one. */
  readonly serial: string;
  /** 16 or 32 hexadecimal digits: an NAA identifier. */
  readonly naa: string;
  readonly vendor?: string;
  readonly product?: string;
  readonly revision?: string;
  /** What initiators should align to: 4096, in which volumes are kept, unless one insists on 512. */
  readonly physicalBlockBytes?: 512 | 4096;
}

export interface UnitOptions extends UnitIdentity {
  readonly device: BlockDevice;
  readonly readOnly?: boolean;
}

/** A disk: the device behind it, and everything about it that all initiators share. */
export class LogicalUnit {
  readonly identity: Required<UnitIdentity>;
  readonly device: BlockDevice;
  readonly transferBlocksMax: number;
  readonly lock = new CommandLock();
  readonly reservations: PersistentReservations;
  readonly attachments = new Set<Attachment>();
  /** Who holds the reservation of RESERVE(6) and RESERVE(10). */
  legacyHolder: Attachment | undefined;
  softwareWriteProtected = false;
  descriptorSense = false;

  readonly #readOnly: boolean;
  #running = 0;
  #idle: (() => void)[] = [];

  constructor(options: UnitOptions, transferBytesMax: number, store: ReservationStore) {
    this.identity = {
      serial: options.serial,
      naa: options.naa,
      vendor: options.vendor ?? 'GRANARY',
      product: options.product ?? 'VOLUME',
      revision: options.revision ?? '1.0',
      physicalBlockBytes: options.physicalBlockBytes ?? 4096,
    };
    this.device = options.device;
    this.transferBlocksMax = Math.floor(transferBytesMax / SECTOR_BYTES);
    this.#readOnly = options.readOnly ?? false;
    this.reservations = new PersistentReservations(options.serial, store);
  }

  get blocks(): number {
    return Math.floor(this.device.sizeBytes / SECTOR_BYTES);
  }

  get readOnly(): boolean {
    return this.#readOnly || this.device.readOnly;
  }

  attach(attachment: Attachment): void {
    this.attachments.add(attachment);
  }

  /** A session has ended, or may no longer see the unit. */
  detach(attachment: Attachment): void {
    this.attachments.delete(attachment);
    if (this.legacyHolder === attachment) this.legacyHolder = undefined;
  }

  /** Tells every initiator but one. */
  raise(attention: SenseData, except?: Attachment): void {
    for (const attachment of this.attachments) if (attachment !== except) attachment.raise(attention);
  }

  /** LOGICAL UNIT RESET: what is under way ends, what was set since the start is gone. */
  async reset(by?: Attachment): Promise<void> {
    this.legacyHolder = undefined;
    this.softwareWriteProtected = false;
    this.descriptorSense = false;
    const ends = [...this.attachments].map(async (attachment) => {
      await attachment.nexus.abortTasks(this, attachment.nexus !== by?.nexus);
    });
    this.raise(Attention.reset);
    await Promise.all(ends);
  }

  started(): void {
    this.#running++;
  }

  ended(): void {
    if (--this.#running > 0) return;
    for (const notify of this.#idle) notify();
    this.#idle = [];
  }

  /** Resolves when no command uses the device. */
  whenIdle(): Promise<void> {
    if (this.#running === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }
}
