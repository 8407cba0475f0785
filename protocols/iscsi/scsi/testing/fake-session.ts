import type { BlockDevice } from '@granary/storage';
import { RamDevice } from '../../testing/ram-device.ts';
import type { ScsiCommand } from '../command.ts';
import { admit, isOutcome } from '../dispatch.ts';
import { LogicalUnit, type UnitOptions } from '../logical-unit.ts';
import { Attachment, type Nexus } from '../nexus.ts';
import { failureOf, type Answer, type Outcome } from '../outcome.ts';
import { MemoryReservationStore, type ReservationStore } from '../reservations/reservation-store.ts';

const TRANSFER_BYTES_MAX = 1024 * 1024;
export const UNIT_BYTES = 4 * 1024 * 1024;
export const UNIT_BLOCKS = UNIT_BYTES / 512;

/** An initiator without a network: commands go straight to the unit, as a session would send them. */
export class FakeSession implements Nexus {
  readonly initiatorName: string;
  readonly isid = '400000000001';
  readonly targetName = 'iqn.2026-01.com.example:target';
  readonly attachment: Attachment;
  /** Units on which this initiator's commands were ended by others. */
  aborted = 0;

  constructor(unit: LogicalUnit, name: string, readOnly = false) {
    this.initiatorName = `iqn.2026-01.com.example:${name}`;
    this.attachment = new Attachment(unit, this, readOnly);
    this.attachment.attentions.length = 0;
    unit.attach(this.attachment);
  }

  lunNumbers(): number[] {
    return [0, 3, 300];
  }

  abortTasks(): Promise<void> {
    this.aborted++;
    return Promise.resolve();
  }

  /** `cdb` in hexadecimal. */
  async send(cdb: string | Buffer, data: Buffer = Buffer.alloc(0), announcedBytes = data.length): Promise<Outcome> {
    const bytes = Buffer.alloc(16);
    (typeof cdb === 'string' ? Buffer.from(cdb.replaceAll(' ', ''), 'hex') : cdb).copy(bytes);
    const admitted = admit(bytes, this.attachment);
    if (isOutcome(admitted)) return admitted;
    const command: ScsiCommand = {
      cdb: bytes,
      unit: this.attachment.unit,
      attachment: this.attachment,
      nexus: this,
      data: data.subarray(0, admitted.dataOutBytes?.(bytes) ?? 0),
      announcedBytes,
      ordered: false,
      allocate: (size) => Buffer.alloc(size, 0xee),
    };
    return runSafely(() => admitted.run(command));
  }
}

async function runSafely(run: () => Answer): Promise<Outcome> {
  try {
    return await run();
  } catch (error) {
    return failureOf(error);
  }
}

export interface FakeUnitOptions extends Partial<UnitOptions> {
  readonly store?: ReservationStore;
}

export function fakeUnit(options: FakeUnitOptions = {}): LogicalUnit {
  const device: BlockDevice = options.device ?? new RamDevice(UNIT_BYTES);
  const store = options.store ?? new MemoryReservationStore();
  const identity = { serial: 'SERIAL-1', naa: '3000000000000001' };
  return new LogicalUnit({ ...identity, ...options, device }, TRANSFER_BYTES_MAX, store);
}

/** A unit and two initiators that see it. */
export function fakePair(options: FakeUnitOptions = {}): { unit: LogicalUnit; one: FakeSession; other: FakeSession } {
  const unit = fakeUnit(options);
  return { unit, one: new FakeSession(unit, 'one'), other: new FakeSession(unit, 'other') };
}

/** Status and sense in one word: `good`, `conflict`, or `key/code/qualifier` in hexadecimal. */
export function run(outcome: Outcome): string {
  const { status, sense } = outcome;
  if (status === 0x18) return 'conflict';
  if (sense === undefined) return status === 0 ? 'good' : `status ${status}`;
  const hex = (value: number) => value.toString(16).padStart(2, '0');
  return `${sense.key.toString(16)}/${hex(sense.code)}/${hex(sense.qualifier)}`;
}

export const SECTORS = {
  /** `count` sectors of one byte. */
  of: (byte: number, count = 1) => Buffer.alloc(512 * count, byte),
};
