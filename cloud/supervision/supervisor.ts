import { join } from 'node:path';
import type { Product } from '@granary/contract/cloud';
import type { GivenBack, HostedConfiguration, Listening, Log } from '@granary/kernel';
import { prepareProgram } from './forking.ts';
import { supervisionLimits, type SupervisionLimits } from './limits.ts';
import { SupervisedArray, type StateChange } from './supervised-array.ts';
import { Turns } from './turns.ts';

const LOG_FILE = 'array.log';

export type Programs = Readonly<Record<Product, string>>;

interface SupervisorOptions {
  readonly programs: Programs;
  readonly cacheFolder: string | undefined;
  readonly log: Log;
  readonly limits?: Partial<SupervisionLimits> | undefined;
  readonly onChange: (configuration: HostedConfiguration, change: StateChange) => void;
  /** An array gives something back: null when it was taken, else why not. */
  readonly onReturn: (array: string, what: GivenBack) => Promise<string | null>;
  readonly onListening: (configuration: HostedConfiguration, now: Listening, before: Listening) => void;
}

/** The processes of all arrays of a cloud. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #limits: SupervisionLimits;
  readonly #turns: Turns;
  readonly #stopping = new AbortController();
  readonly #prepared: Readonly<Record<Product, Promise<void>>>;
  readonly #arrays = new Map<string, SupervisedArray>();

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#limits = { ...supervisionLimits, ...options.limits };
    this.#turns = new Turns(this.#limits.startsMax);
    const { programs, cacheFolder } = options;
    const prepare = (product: Product) => prepareProgram(programs[product], cacheFolder, this.#stopping.signal);
    // One after the other: they share nearly all they compile.
    const storageArray = prepare('storage_array');
    const objectStorage = storageArray.then(() => prepare('object_storage'));
    this.#prepared = { storage_array: storageArray, object_storage: objectStorage };
  }

  get(uuid: string): SupervisedArray | undefined {
    return this.#arrays.get(uuid);
  }

  /** Knows the array from now on; a running process follows the configuration at once. */
  async describe(product: Product, configuration: HostedConfiguration): Promise<SupervisedArray> {
    const known = this.#arrays.get(configuration.uuid);
    if (known) {
      await known.change(configuration);
      return known;
    }
    const { programs, cacheFolder, log, onChange, onReturn, onListening } = this.#options;
    const array = new SupervisedArray(configuration, {
      program: programs[product],
      logFile: join(configuration.folder, LOG_FILE),
      cacheFolder,
      limits: this.#limits,
      turns: this.#turns,
      prepared: this.#prepared[product],
      log,
      onChange: (change) => onChange(configuration, change),
      onReturn: (what) => onReturn(configuration.uuid, what),
      onListening: (now, before) => onListening(configuration, now, before),
    });
    this.#arrays.set(configuration.uuid, array);
    return array;
  }

  async remove(uuid: string): Promise<void> {
    await this.#arrays.get(uuid)?.stop();
    this.#arrays.delete(uuid);
  }

  async stopAll(): Promise<void> {
    this.#stopping.abort();
    await this.#prepared.object_storage;
    await Promise.all([...this.#arrays.values()].map((array) => array.stop()));
  }
}
