import type { PortalArray } from '../arrays/array.ts';
import { isUnreachable } from '../arrays/objects-connection.ts';
import { listAutoApproving } from '../arrays/public-services/repository.ts';
import type { ArrayStates } from '../arrays/states.ts';
import type { Tools } from '../tools.ts';
import type { RemoteAccounts } from './remote.ts';

const LOOK_MS = 5_000;

/**
 * People without a portal account sign up at the array itself, where their requests wait for an administrator. Where
 * the public object service says that none needs to be asked, the portal gives the word.
 */
export class SignUps {
  readonly #tools: Tools;
  readonly #states: ArrayStates;
  readonly #remote: RemoteAccounts;
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(tools: Tools, states: ArrayStates, remote: RemoteAccounts) {
    this.#tools = tools;
    this.#states = states;
    this.#remote = remote;
  }

  start(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#polling = this.poll().finally(() => {
        this.start();
      });
    }, LOOK_MS).unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#polling;
  }

  async poll(): Promise<void> {
    const { store } = this.#tools;
    const arrays = store.read((db) => listAutoApproving(db).map((id) => this.#states.existing(db, id)));
    await Promise.all(arrays.map((array) => this.#approveAll(array)));
  }

  async #approveAll(array: PortalArray): Promise<void> {
    const { store, events, log } = this.#tools;
    try {
      for (const account of await this.#remote.approveSignUps(array)) {
        const title = `Account ${account} was signed up for at array ${array.name} and approved without asking.`;
        await store.write((tx) => events.record(tx, { title, subject: `array:${array.id}`, severity: 'notice' }));
      }
    } catch (error) {
      if (isUnreachable(error)) log.debug({ array: array.name }, 'an array does not answer');
      else log.warn({ error, array: array.name }, 'sign-ups could not be approved');
    }
  }
}
