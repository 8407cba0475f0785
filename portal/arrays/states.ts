import type { HostedArray } from '@granary/contract/cloud';
import type { ArrayState } from '@granary/contract/portal';
import { fail, type Db, type Tx } from '@granary/kernel';
import type { ArrayId, UserId } from '../ids.ts';
import { syncMeter } from '../metering/meter.ts';
import type { Tools } from '../tools.ts';
import type { ArrayRecords } from './records.ts';
import * as repository from './repository.ts';
import type { PortalArray } from './array.ts';
import { servedPlace } from './public-services/place.ts';

export interface Move {
  readonly status: ArrayState;
  readonly message?: string;
  readonly progress: number;
  readonly event: string;
  readonly severity?: 'error' | 'warning' | 'notice';
  readonly actor?: string;
}

/** Its process is not up; its cloud goes on trying. */
export function startingMove({ name }: PortalArray, { reason }: Pick<HostedArray, 'reason'>): Move {
  const message = reason ?? 'Its process is starting.';
  return {
    status: 'starting',
    message,
    progress: 50,
    event: `Array ${name} does not answer: ${message}`,
    severity: 'warning',
  };
}

export function refuseLockedDown({ isLockedDown, name }: Pick<PortalArray, 'isLockedDown' | 'name'>): void {
  if (isLockedDown) throw fail('locked_down', { name });
}

/** The one place an array's state changes: its record, its bill and its events move together. */
export class ArrayStates {
  readonly #tools: Tools;
  readonly #records: ArrayRecords;

  constructor(tools: Tools, records: ArrayRecords) {
    this.#tools = tools;
    this.#records = records;
  }

  existing(db: Db, id: ArrayId, scope: UserId | null = null): PortalArray {
    const array = repository.findArray(db, id, scope);
    if (!array) throw fail('not_found', { kind: 'array', id });
    return array;
  }

  /** The array, if it is in one of the states the action needs and takes changes. */
  require(db: Db, id: ArrayId, scope: UserId | null, action: string, needed: readonly ArrayState[]): PortalArray {
    const array = this.requireState(db, id, scope, action, needed);
    refuseLockedDown(array);
    return array;
  }

  /** Also one that is locked down. */
  requireState(db: Db, id: ArrayId, scope: UserId | null, action: string, needed: readonly ArrayState[]): PortalArray {
    const array = this.existing(db, id, scope);
    if (!needed.includes(array.status)) {
      throw fail('wrong_state', {
        kind: 'Array',
        id: array.name,
        state: array.status,
        action,
        // One that starts was created: the user has nothing to do for it.
        needed: needed.filter((state) => state !== 'starting').join(' or '),
      });
    }
    return array;
  }

  move(tx: Tx, id: ArrayId, { status, message, progress, event, severity, actor }: Move): void {
    const { clock, events } = this.#tools;
    if (status === 'deleted') repository.setDeleted(tx, id, clock.now());
    else repository.setStatus(tx, id, { status, message: message ?? null, progress });
    this.touch(tx, id);
    events.record(tx, {
      title: event,
      subject: `array:${id}`,
      ...(severity && { severity }),
      ...(actor !== undefined && { actor }),
    });
  }

  /** After anything about the array changed: the meter follows, as of now or a moment ago, and the kept record goes. */
  touch(tx: Tx, id: ArrayId, at = this.#tools.clock.now()): void {
    const array = this.existing(tx, id);
    this.meter(tx, array, array.status, at);
    tx.afterCommit(() => {
      this.#records.changed(id);
    });
  }

  /** What the array is billed for from that moment on, as if it were in the state since then. */
  meter(tx: Tx, array: PortalArray, status: ArrayState, at: number): void {
    const { id, numberInCloud, publicIp, purgeAt, spec, isEncrypted } = array;
    const [placed, hasPublicIp, retained] = [numberInCloud !== null, publicIp !== null, purgeAt !== null];
    const hasPublicService = servedPlace(tx, id) !== null;
    const proxies = spec.proxy_zones.length;
    syncMeter(tx, { id, status, placed, hasPublicIp, hasPublicService, retained, proxies, isEncrypted, spec }, at);
  }
}
