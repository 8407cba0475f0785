import type { HostedArray } from '@granary/contract/cloud';
import type { Tx } from '@granary/kernel';
import type { Tools } from '../tools.ts';
import { setOutageSeen, setStatusMessage, type ArrayRow } from './repository.ts';
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
export class OutageBook {
  readonly #tools: Tools;
  readonly #states: ArrayStates;

  constructor(tools: Tools, states: ArrayStates) {
    this.#tools = tools;
    this.#states = states;
  }

  follow(tx: Tx, row: ArrayRow, hosted: HostedArray, look: Look): void {
    if (row.status !== 'created' && row.status !== 'starting') return;
    const isUp = this.#account(tx, row, hosted, look);
    if (hosted.state === 'running') this.#answers(tx, row, hosted, isUp);
    else if (hosted.state === 'starting') this.#isDown(tx, row, hosted);
  }

  /** Whether it is up by the last outage; the bill then says so from the right moment on. */
  #account(tx: Tx, row: ArrayRow, { outages }: HostedArray, look: Look): boolean {
    const { events } = this.#tools;
    let isUp = row.status === 'created';
    const known = outages.findIndex(({ id }) => id === row.outage_seen);
    for (const { id, began_ms_ago: began, ended_ms_ago: ended } of outages.slice(known + 1)) {
      const beganAt = began === null ? (look.before ?? look.at) : look.at - began;
      if (isUp) this.#states.meter(tx, row, 'starting', beganAt);
      const wasShown = !isUp;
      isUp = ended !== null;
      if (ended === null) continue;
      const endedAt = look.at - ended;
      this.#states.meter(tx, row, 'created', endedAt);
      setOutageSeen(tx, row.id, id);
      if (wasShown) continue;
      const seconds = (Math.max(0, endedAt - beganAt) / 1000).toFixed(1);
      const title = `Array ${row.name} did not answer for ${seconds} seconds.`;
      events.record(tx, { title, subject: `array:${row.id}`, severity: 'warning' });
    }
    return isUp;
  }

  #answers(tx: Tx, row: ArrayRow, { reason }: HostedArray, isUp: boolean): void {
    if (row.status === 'starting') {
      // The bill was set right above, unless the cloud has forgotten the outage: then it begins again now.
      const move = { status: 'created', progress: 100, event: `Array ${row.name} answers again.` } as const;
      this.#states.move(tx, row.id, move);
      return;
    }
    if (!isUp) return;
    const message = reason === null ? null : `${OF_CLOUD}${reason}.`;
    const isOfCloud = row.status_message?.startsWith(OF_CLOUD) === true;
    if (message === row.status_message || (message === null && !isOfCloud)) return;
    setStatusMessage(tx, row.id, message);
    this.#states.touch(tx, row.id);
  }

  #isDown(tx: Tx, row: ArrayRow, hosted: HostedArray): void {
    const move = startingMove(row, hosted);
    if (row.status === 'created') this.#states.move(tx, row.id, move);
    else if (row.status_message !== move.message) {
      setStatusMessage(tx, row.id, move.message ?? null);
      this.#states.touch(tx, row.id);
    }
  }
}
