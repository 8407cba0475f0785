import type { Sense } from './sense.ts';

/** The target said something that the protocol does not allow. The session is over. */
export class InitiatorProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

/** The connection is gone, or was closed by the caller; what was outstanding has no answer. */
export class SessionClosedError extends Error {
  override readonly name = 'SessionClosedError';
}

/** The task was aborted by task management, so no answer will come. */
export class AbortedError extends Error {
  override readonly name = 'AbortedError';
}

/** The target refused a PDU. */
export class RejectError extends Error {
  override readonly name = 'RejectError';
  readonly reason: number;

  constructor(reason: number) {
    super(`The target rejected the PDU with reason 0x${reason.toString(16)}`);
    this.reason = reason;
  }
}

/** The target did not let us in. Class 1 is a redirection, 2 our fault, 3 the target's. */
export class LoginError extends Error {
  override readonly name = 'LoginError';
  readonly statusClass: number;
  readonly statusDetail: number;
  readonly answers: ReadonlyMap<string, string>;

  constructor(statusClass: number, statusDetail: number, answers: ReadonlyMap<string, string>) {
    super(`The target refused the login with status 0x0${statusClass}${statusDetail.toString(16).padStart(2, '0')}`);
    this.statusClass = statusClass;
    this.statusDetail = statusDetail;
    this.answers = answers;
  }
}

/** A command that did not end with GOOD, or moved fewer bytes than it was asked to. */
export class ScsiError extends Error {
  override readonly name = 'ScsiError';
  readonly status: number;
  readonly sense: Sense | undefined;

  constructor(what: string, status: number, sense: Sense | undefined) {
    super(`${what}: status 0x${status.toString(16).padStart(2, '0')}${sense === undefined ? '' : `, ${sense.text}`}`);
    this.status = status;
    this.sense = sense;
  }

  get isUnitAttention(): boolean {
    return this.sense?.key === 6;
  }
}
