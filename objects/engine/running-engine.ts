import type { Clock, HostedConfiguration, Log, UnboundAddress } from '@granary/kernel';
import type { ObjectEngine } from './engine.ts';
import type { EngineManagement } from './management.ts';

export interface EngineSetup {
  /** Asked each time it matters: the cloud may change it while the array runs. */
  readonly configuration: () => HostedConfiguration;
  readonly clock: Clock;
  readonly log: Log;
  /** The addresses at which data is served changed without a call. */
  readonly onListening: () => void;
}

export interface RunningEngine {
  readonly engine: ObjectEngine;
  /** Addresses where data cannot be served, and why. */
  readonly unbound: readonly UnboundAddress[];
  /** Clients may come. Before, the catalogue can be read and changed, and nothing else. */
  serve(management: EngineManagement): Promise<void>;
  stop(): Promise<void>;
}

/** Opens what keeps an array's objects. */
export type StartEngine = (setup: EngineSetup) => RunningEngine;
