import { StorageError } from '@granary/storage';
import { Sense, type SenseData } from './sense.ts';

export const Status = {
  good: 0x00,
  checkCondition: 0x02,
  reservationConflict: 0x18,
  taskAborted: 0x40,
} as const;

/** What a command comes to. */
export interface Outcome {
  readonly status: number;
  /** For the initiator. */
  readonly data?: Buffer;
  readonly sense?: SenseData;
}

/** Like everything that touches storage: at once when it can be. */
export type Answer = Outcome | Promise<Outcome>;

export const GOOD: Outcome = { status: Status.good };
export const RESERVATION_CONFLICT: Outcome = { status: Status.reservationConflict };
export const TASK_ABORTED: Outcome = { status: Status.taskAborted };

export function failed(sense: SenseData): Outcome {
  return { status: Status.checkCondition, sense };
}

export const INVALID_FIELD_IN_CDB = failed(Sense.invalidFieldInCdb);
export const INVALID_FIELD_IN_PARAMETERS = failed(Sense.invalidFieldInParameters);
export const LBA_OUT_OF_RANGE = failed(Sense.lbaOutOfRange);

export function replied(data: Buffer): Outcome {
  return { status: Status.good, data };
}

/** Data of which the initiator has said how much it wants. */
export function repliedUpTo(data: Buffer, allocationLength: number): Outcome {
  return replied(data.length > allocationLength ? data.subarray(0, allocationLength) : data);
}

/** How a failure of storage looks to an initiator. */
export function failureOf(error: unknown): Outcome {
  if (!(error instanceof StorageError)) return failed(Sense.internalFailure);
  switch (error.code) {
    case 'unreadable':
      return failed(Sense.unreadable);
    case 'pool-full':
    case 'no-space':
      return failed(Sense.spaceAllocationFailed);
    case 'read-only':
      return failed(Sense.writeProtected);
    case 'locked':
    case 'closed':
    case 'cancelled':
    case 'conflict':
    case 'not-found':
      return failed(Sense.notReady);
    case 'drive-failed':
    case 'group-failed':
    case 'invalid':
      return failed(Sense.internalFailure);
  }
}
