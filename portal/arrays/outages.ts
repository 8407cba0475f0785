import type { HostedArray } from '@granary/contract/cloud';
import type { Tx } from '@granary/kernel';
import type { Tools } from '../tools.ts';
import type { PortalArray } from './array.ts';
import { setOutageSeen, setStatusMessage } from './repository.ts';
import { startingMove, type ArrayStates } from './states.ts';

/** When the portal looked, by its own clock. */
export interface Look {
  readonly at: number;
  /** The look before, if there was one: an array that was down when its cloud came up has been so since then. */
  readonly before: number | null;
}

const OF_CLOUD = 'Its cloud says: ';

/**
 * Brings an array's state and its bill in line with when its process served. The cloud tells each outage with its times,
 * so the bill is exact however seldom the portal looks, and outages between two looks count, too.
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

  /** Whether it is up by the last outage; the bill then says so from the right moment on. */
  #account(tx: Tx, array: PortalArray, { outages }: HostedArray, poll: Look): boolean {
    const { events } = this.#tools;
    let isUp = array.status === 'created';
    const known = outages.findIndex(({ id }) => id === array.outageSeen);
    for (const { id, began_ms_ago: began, ended_ms_ago: ended } of outages.slice(known + 1)) {
      const beganAt = began === null ? (poll.before ?? poll.at) : poll.at - began;
      if (isUp) this.#states.meter(tx, array, 'starting', beganAt);
      const wasShown = !isUp;
      isUp = ended !== null;
      if (ended === null) continue;
      const endedAt = poll.at - ended;
      this.#states.meter(tx, array, 'created', endedAt);
      setOutageSeen(tx, array.id, id);
      if (wasShown) continue;
      const seconds = (Math.max(0, endedAt - beganAt) / 1000).toFixed(1);
      const title = `Array ${array.name} did not answer for ${seconds} seconds.`;
      events.record(tx, { title, subject: `array:${array.id}`, severity: 'warning' });
    }
    return isUp;
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
