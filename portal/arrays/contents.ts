import { arrayClient } from '@granary/client';
import type { RecordOf } from '@granary/contract';
import type { ArrayContents } from '@granary/contract/portal';
import type { ArrayId } from '../ids.ts';
import { scopeOf, type PortalActor } from '../actor.ts';
import type { CloudService } from '../clouds/service.ts';
import type { Tools } from '../tools.ts';
import type { PortalArray } from './array.ts';
import type { ArrayStates } from './states.ts';

export type ContentsView = RecordOf<typeof ArrayContents>;

const ANSWER_MS_MAX = 5_000;
const VOLUMES_MAX = 1_000;
const UNKNOWN: ContentsView = {
  known: false,
  volumes: null,
  attached_volumes: null,
  accounts: null,
  containers: null,
  objects: null,
};

/** What the accounts of an object storage array hold, by id; undefined when the array does not answer. */
interface AccountFigures {
  figures(array: PortalArray): Promise<ReadonlyMap<string, { containers: number; objects: number }> | undefined>;
}

interface Parts {
  readonly tools: Tools;
  readonly clouds: CloudService;
  readonly states: ArrayStates;
  readonly accounts: AccountFigures;
}

/** What arrays hold, asked of the arrays themselves, for those who are about to delete one. */
export class ArrayContentsService {
  readonly #tools: Tools;
  readonly #clouds: CloudService;
  readonly #states: ArrayStates;
  readonly #accounts: AccountFigures;

  constructor({ tools, clouds, states, accounts }: Parts) {
    this.#tools = tools;
    this.#clouds = clouds;
    this.#states = states;
    this.#accounts = accounts;
  }

  async get(actor: PortalActor, id: ArrayId): Promise<ContentsView> {
    const array = this.#tools.store.read((db) => this.#states.existing(db, id, scopeOf(actor)));
    // What was never placed never held anything.
    if (array.numberInCloud === null && array.status !== 'deleted') return nothing(array);
    if (array.status !== 'created') return UNKNOWN;
    try {
      return await (array.product === 'object_storage' ? this.#ofObjects(array) : this.#ofBlocks(array));
    } catch (error) {
      this.#tools.log.warn({ error, array: array.name }, 'an array did not say what it holds');
      return UNKNOWN;
    }
  }

  async #ofBlocks(array: PortalArray): Promise<ContentsView> {
    const accessKey = this.#tools.vault.unseal(array.internalKeySealed);
    const place = { url: array.managementUrl ?? '', timeoutMs: ANSWER_MS_MAX, fetch: this.#clouds.fetchToArray(array) };
    const client = arrayClient({ ...place, accessKey });
    const { volumes, count } = await client.volumes.list({ limit: VOLUMES_MAX });
    const attached = volumes.filter(({ server_ext_names: servers }) => servers !== '').length;
    return { ...UNKNOWN, known: true, volumes: count, attached_volumes: attached };
  }

  async #ofObjects(array: PortalArray): Promise<ContentsView> {
    const figures = await this.#accounts.figures(array);
    if (!figures) return UNKNOWN;
    const accounts = [...figures.values()];
    return {
      ...UNKNOWN,
      known: true,
      accounts: Math.max(0, accounts.length - 1),
      containers: accounts.reduce((sum, { containers }) => sum + containers, 0),
      objects: accounts.reduce((sum, { objects }) => sum + objects, 0),
    };
  }
}

function nothing({ product }: PortalArray): ContentsView {
  const isBlock = product === 'storage_array';
  return isBlock
    ? { ...UNKNOWN, known: true, volumes: 0, attached_volumes: 0 }
    : { ...UNKNOWN, known: true, accounts: 0, containers: 0, objects: 0 };
}
