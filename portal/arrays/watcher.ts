import { ConnectionError } from '@granary/client';
import type { HostedArray } from '@granary/contract/cloud';
import { listClouds } from '../clouds/repository.ts';
import type { Clouds } from '../clouds/service.ts';
import type { Tools } from '../tools.ts';
import { listPlaced, type ArrayRow } from './repository.ts';
import type { ArrayStates } from './states.ts';

const WATCH_MS = 3000;

/** Looks at the clouds every few seconds, so that an array that died, or came back, is shown as it is. */
export class ArrayWatcher {
  readonly #tools: Tools;
  readonly #clouds: Clouds;
  readonly #states: ArrayStates;
  #timer: NodeJS.Timeout | undefined;
  #look: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(tools: Tools, clouds: Clouds, states: ArrayStates) {
    this.#tools = tools;
    this.#clouds = clouds;
    this.#states = states;
  }

  start(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#look = this.look().finally(() => {
        this.start();
      });
    }, WATCH_MS).unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#look;
  }

  async look(): Promise<void> {
    const { store, log } = this.#tools;
    for (const { id, name } of store.read((db) => listClouds(db, false, { start: 0, limit: 0 }))) {
      try {
        if (store.read((db) => listPlaced(db, id)).length > 0) await this.#lookAt(id);
      } catch (error) {
        // Silence of a cloud is not death of its arrays.
        if (error instanceof ConnectionError)
          log.debug({ cloud: name, reason: error.message }, 'a cloud does not answer');
        else log.warn({ error, cloud: name }, 'could not look at a cloud');
      }
    }
  }

  async #lookAt(cloudId: number): Promise<void> {
    const { store } = this.#tools;
    const { data } = await this.#clouds.link(cloudId).hostedArrays.list();
    const byUuid = new Map(data.map((hosted) => [hosted.uuid, hosted]));
    await store.write((tx) => {
      // Read again inside: jobs may have moved an array on while the cloud answered.
      for (const row of listPlaced(tx, cloudId)) {
        const move = seen(row, byUuid.get(row.uuid));
        if (move) this.#states.move(tx, row.id, move);
      }
    });
  }
}

function seen(row: ArrayRow, hosted: HostedArray | undefined) {
  if (row.status === 'created' && hosted?.state === 'failed') {
    const message = hosted.reason ?? 'Its process keeps ending';
    return {
      status: 'failed',
      message,
      progress: 0,
      event: `Array ${row.name} failed: ${message}`,
      severity: 'error',
    } as const;
  }
  if (row.status === 'failed' && hosted?.state === 'running') {
    return { status: 'created', progress: 100, event: `Array ${row.name} is running again.` } as const;
  }
  return undefined;
}
