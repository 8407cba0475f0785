import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Product } from '@granary/contract/cloud';
import type { EncryptionChange, GivenBack, HostedConfiguration, Listening, Log } from '@granary/kernel';
import { ArrayProcess, type Launch } from './array-process.ts';
import { prepareProgram } from './forking.ts';
import { supervisionLimits, type SupervisionLimits } from './limits.ts';
import type { SupervisedProcess } from './process.ts';
import { SupervisedArray, type StateChange } from './supervised-array.ts';
import { realTiming, type Timing } from './timing.ts';
import { Turns } from './turns.ts';

const LOG_FILE = 'array.log';

export type Programs = Readonly<Record<Product, string>>;

interface SupervisorOptions {
  readonly programs: Programs;
  readonly cacheFolder: string | undefined;
  readonly consoleFolder?: string | undefined;
  readonly log: Log;
  readonly limits?: Partial<SupervisionLimits> | undefined;
  readonly timing?: Timing;
  /** Tests put processes of their own in place of those of the machine. */
  readonly launch?: (launch: Launch) => SupervisedProcess;
  readonly onChange: (configuration: HostedConfiguration, change: StateChange) => void;
  /** An array gives something back: null when it was taken, else why not. */
  readonly onReturn: (array: string, what: GivenBack) => Promise<string | null>;
  readonly onListening: (configuration: HostedConfiguration, now: Listening, before: Listening) => void;
  /** When the encryption of an array came and went: all it keeps. */
  readonly onEncryption: (array: string, changes: readonly EncryptionChange[]) => void;
}

/** How the arrays of a cloud fare that should be up. */
export interface ArrayCounts {
  readonly up: number;
  readonly starting: number;
  readonly failed: number;
}

/** The processes of all arrays of a cloud. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #limits: SupervisionLimits;
  readonly #turns: Turns;
  readonly #stopping = new AbortController();
  readonly #prepared: Readonly<Record<Product, Promise<void>>>;
  readonly #arrays = new Map<string, SupervisedArray>();
  readonly #encryption = new Map<string, readonly EncryptionChange[]>();
  /** Names of outages must not come again when the cloud does. */
  readonly #run = randomUUID();

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
  async describe(product: Product, configuration: HostedConfiguration, hasServed = false): Promise<SupervisedArray> {
    const known = this.#arrays.get(configuration.uuid);
    if (known) {
      await known.change(configuration);
      return known;
    }
    const { timing = realTiming, log, onChange } = this.#options;
    const array = new SupervisedArray(configuration, {
      launch: (current) => this.#launch(product, current),
      limits: this.#limits,
      timing,
      turns: this.#turns,
      prepared: this.#prepared[product],
      hasServed,
      outagePrefix: this.#run,
      log,
      onChange: (change) => onChange(configuration, change),
    });
    this.#arrays.set(configuration.uuid, array);
    return array;
  }

  /** What its process last reported, in this run of the cloud; it may not be on record yet. */
  encryptionOf(uuid: string): readonly EncryptionChange[] | undefined {
    return this.#encryption.get(uuid);
  }

  now(): number {
    return (this.#options.timing ?? realTiming).now();
  }

  counts(): ArrayCounts {
    const count = (state: SupervisedArray['state']) =>
      [...this.#arrays.values()].filter((array) => array.state === state).length;
    return { up: count('running'), starting: count('starting'), failed: count('failed') };
  }

  async remove(uuid: string): Promise<void> {
    await this.#arrays.get(uuid)?.stop();
    this.#arrays.delete(uuid);
    this.#encryption.delete(uuid);
  }

  async stopAll(): Promise<void> {
    this.#stopping.abort();
    await this.#prepared.object_storage;
    await Promise.all([...this.#arrays.values()].map((array) => array.stop()));
  }

  #launch(product: Product, configuration: HostedConfiguration): SupervisedProcess {
    const { programs, cacheFolder, consoleFolder, timing = realTiming } = this.#options;
    const { onReturn, onListening, onEncryption, launch } = this.#options;
    const { uuid } = configuration;
    const described: Launch = {
      program: programs[product],
      configuration: { ...configuration, consoleFolder },
      logFile: join(configuration.folder, LOG_FILE),
      cacheFolder,
      timing,
      onReturn: (what) => onReturn(uuid, what),
      onListening: (now, before) => onListening(configuration, now, before),
      onEncryption: (changes) => {
        this.#encryption.set(uuid, changes);
        onEncryption(uuid, changes);
      },
    };
    return launch ? launch(described) : new ArrayProcess(described);
  }
}
