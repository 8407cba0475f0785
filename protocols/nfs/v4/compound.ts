import type { NfsEvent } from '../events.ts';
import type { Limits } from '../limits.ts';
import type { Namespace, Place } from '../namespace/namespace.ts';
import type { GracePeriod } from '../recovery/grace-period.ts';
import type { Call } from '../rpc/program.ts';
import type { Identities } from './attributes/identities.ts';
import type { Clients } from './state/clients.ts';
import type { NfsSession, Slot } from './state/session.ts';
import type { StateId } from './state/state-id.ts';
import type { States } from './state/states.ts';
import { Nfs4Error, Status4 } from './status.ts';

export interface Version4 {
  readonly namespace: Namespace;
  readonly limits: Limits;
  readonly identities: Identities;
  readonly clients: Clients;
  readonly states: States;
  readonly grace: GracePeriod;
  /** The same for as long as file handles and client ids mean the same. */
  readonly serverOwner: Buffer;
  readonly report: (event: NfsEvent) => void;
}

/** What the operations of one compound hand on to each other. */
export class Compound {
  readonly server: Version4;
  readonly call: Call;
  readonly minorVersion: number;
  /** Bytes of the whole request. */
  readonly requestBytes: number;
  readonly operationCount: number;
  current: Place | undefined;
  saved: Place | undefined;
  currentState: StateId | undefined;
  savedState: StateId | undefined;
  /** Set by SEQUENCE. */
  session: NfsSession | undefined;
  slot: Slot | undefined;
  keepsReply = false;
  /** The reply of an earlier request that is this one. */
  replay: Buffer | undefined;

  constructor(
    server: Version4,
    call: Call,
    request: { readonly minorVersion: number; readonly bytes: number; readonly operations: number },
  ) {
    this.server = server;
    this.call = call;
    this.minorVersion = request.minorVersion;
    this.requestBytes = request.bytes;
    this.operationCount = request.operations;
  }

  /** The file the next operation is about. */
  get place(): Place {
    if (this.current === undefined) throw new Nfs4Error(Status4.noFileHandle);
    return this.current;
  }

  get savedPlace(): Place {
    if (this.saved === undefined) throw new Nfs4Error(Status4.noSavedFileHandle);
    return this.saved;
  }

  moveTo(place: Place): void {
    this.current = place;
    this.currentState = undefined;
  }

  get principal(): string {
    const { flavor, uid } = this.call.credentials;
    return `${flavor} ${uid}`;
  }
}
