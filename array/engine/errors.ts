import type { ErrorName } from '@granary/contract/errors';
import { GranaryError } from '@granary/kernel/errors';

export type EngineErrorCode =
  | 'not-found'
  /** It is in a state that does not allow this. */
  | 'conflict'
  | 'invalid'
  /** The pool has no room. */
  | 'full'
  /** The disks beneath have no room. */
  | 'no-space'
  /** Encrypted, and its key was not given. */
  | 'locked'
  /** Cancelled by the caller. */
  | 'cancelled'
  /** The controller that did it is gone; ask again. */
  | 'interrupted'
  /** Drives failed, or bytes cannot be read. */
  | 'failed';

const entries: Partial<Record<EngineErrorCode, ErrorName>> = {
  full: 'capacity_refused',
  'no-space': 'capacity_refused',
  locked: 'volume_locked',
};

/** Why an engine refuses. Callers of the array get the message unchanged: it says what to do. */
export class EngineError extends GranaryError {
  readonly code: EngineErrorCode;

  constructor(code: EngineErrorCode, message: string) {
    super(entries[code] ?? 'state_conflict', message);
    this.name = 'EngineError';
    this.code = code;
  }
}

/** The engine refused: nothing has changed. After any other error that is not known. */
export function isRefusal(error: unknown): error is EngineError {
  return isEngineError(error, 'conflict', 'invalid', 'locked');
}

export function isEngineError(error: unknown, ...codes: EngineErrorCode[]): error is EngineError {
  return error instanceof EngineError && codes.includes(error.code);
}
