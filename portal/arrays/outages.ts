import type { HostedArray } from '@granary/contract/cloud';
import type { ArrayState } from '@granary/contract/portal';
import type { Tx } from '@granary/kernel';
import type { Tools } from '../tools.ts';
import type { PortalArray } from './array.ts';
import { setEncryptionSeen, setOutageSeen, setStatusMessage } from './repository.ts';
import { startingMove, type ArrayStates } from './states.ts';

/** When the portal looked, by its own clock. */
export interface Look {
  readonly at: number;
  /** The look before, if there was one: an array that was down when its cloud came up has been so since then. */
  readonly before: number | null;
}

const OF_CLOUD = 'Its cloud says: ';

/** Something about an array that its bill depends on, and when it was so, by the portal's clock. */
type Step = { readonly at: number } & (
  | { readonly type: 'down' }
  | { readonly type: 'up'; readonly outage: string; readonly downAt: number }
  | { readonly type: 'encryption'; readonly change: string; readonly active: boolean }
);

/**
 * Brings an array's state and its bill in line with when its process served and when it was encrypted. The cloud tells each
 * outage and each change of encryption with its times, so the bill is exact however seldom the portal looks, and what came
 * and went between two looks counts, too.
 */
export class OutageAccounting {
  readonly #tools: Tools;
  readonly #states: ArrayStates;

  constructor(tools: Tools, states: ArrayStates) {
    this.#tools = tools;
    this.#states = states;
  }

  follow(tx: Tx, array: PortalArray, hosted: HostedArray, poll: Look): void {
    if (array.status !== 'created' && array.status !== 'starting') return;
    const isUp = this.#account(tx, array, hosted, poll);
    if (hosted.state === 'running') this.#answers(tx, array, hosted, isUp);
    else if (hosted.state === 'starting') this.#isDown(tx, array, hosted);
  }

  /** What is left to account for of its encryption, by a cloud's answer of that moment; in the state the array is in. */
  recordEncryption(tx: Tx, array: PortalArray, hosted: HostedArray, at: number): void {
    let now = array;
    for (const step of encryptionSteps(array, hosted, at)) now = this.#encryption(tx, now, step, array.status);
  }

  /** Whether it is up by the last outage; the bill then says so from the right moment on. */
  #account(tx: Tx, array: PortalArray, hosted: HostedArray, poll: Look): boolean {
    const isShownUp = array.status === 'created';
    const steps = [...outageSteps(array, hosted, poll), ...encryptionSteps(array, hosted, poll.at)];
    // An outage that was seen to begin and has not ended is listed again: before it the array was up.
    let isUp = isShownUp || steps.some(({ type }) => type === 'down');
    let now = array;
    let downs = 0;
    for (const step of steps.sort((one, other) => one.at - other.at)) {
      if (step.type === 'encryption') now = this.#encryption(tx, now, step, isUp ? 'created' : 'starting');
      else if (step.type === 'down') {
        downs += 1;
        if (isUp) this.#states.meter(tx, now, 'starting', step.at);
        isUp = false;
      } else {
        this.#states.meter(tx, now, 'created', step.at);
        setOutageSeen(tx, array.id, step.outage);
        isUp = true;
        // One that was shown is over without a word.
        if (isShownUp || downs > 1) this.#recordOutage(tx, array, step);
      }
    }
    return isUp;
  }

  #recordOutage(tx: Tx, array: PortalArray, { at, downAt }: { readonly at: number; readonly downAt: number }): void {
    const seconds = (Math.max(0, at - downAt) / 1000).toFixed(1);
    const title = `Array ${array.name} did not answer for ${seconds} seconds.`;
    this.#tools.events.record(tx, { title, subject: `array:${array.id}`, severity: 'warning' });
  }

  #encryption(
    tx: Tx,
    array: PortalArray,
    { change, active, at }: Extract<Step, { type: 'encryption' }>,
    status: ArrayState,
  ): PortalArray {
    const now = { ...array, isEncrypted: active };
    setEncryptionSeen(tx, array.id, active, change);
    this.#states.meter(tx, now, status, at);
    return now;
  }

  #answers(tx: Tx, array: PortalArray, { reason }: HostedArray, isUp: boolean): void {
    if (array.status === 'starting') {
      // The bill was set right above, unless the cloud has forgotten the outage: then it begins again now.
      const move = { status: 'created', progress: 100, event: `Array ${array.name} answers again.` } as const;
      this.#states.move(tx, array.id, move);
      return;
    }
    if (!isUp) return;
    const message = reason === null ? null : `${OF_CLOUD}${reason}.`;
    const isOfCloud = array.statusMessage?.startsWith(OF_CLOUD) === true;
    if (message === array.statusMessage || (message === null && !isOfCloud)) return;
    setStatusMessage(tx, array.id, message);
    this.#states.touch(tx, array.id);
  }

  #isDown(tx: Tx, array: PortalArray, hosted: HostedArray): void {
    const move = startingMove(array, hosted);
    if (array.status === 'created') this.#states.move(tx, array.id, move);
    else if (array.statusMessage !== move.message) {
      setStatusMessage(tx, array.id, move.message ?? null);
      this.#states.touch(tx, array.id);
    }
  }
}

function outageSteps({ outageSeen }: PortalArray, { outages }: HostedArray, poll: Look): Step[] {
  const known = outages.findIndex(({ id }) => id === outageSeen);
  return outages.slice(known + 1).flatMap(({ id, began_ms_ago: began, ended_ms_ago: ended }): Step[] => {
    const downAt = began === null ? (poll.before ?? poll.at) : poll.at - began;
    const down = { type: 'down', at: downAt } as const;
    if (ended === null) return [down];
    return [down, { type: 'up', at: Math.max(downAt, poll.at - ended), outage: id, downAt }];
  });
}

function encryptionSteps({ encryptionSeen }: PortalArray, { encryption = [] }: HostedArray, at: number) {
  const known = encryption.findIndex(({ id }) => id === encryptionSeen);
  return encryption
    .slice(known + 1)
    .map(({ id, active, ms_ago: ago }) => ({ type: 'encryption', at: at - ago, change: id, active }) as const);
}
