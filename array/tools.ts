import type { Clock, EventLog, HostedConfiguration, Jobs, Log, Store, Vault } from '@granary/kernel';
import type { Engine } from './engine/engine.ts';
import type { Readings } from './readings/readings.ts';

/** What every resource of an array is built from. */
export interface ArrayTools {
  readonly store: Store;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly jobs: Jobs;
  readonly log: Log;
  readonly engine: Engine;
  readonly readings: Readings;
  /** Asked each time it matters: the cloud may change it while the array runs. */
  readonly configuration: () => HostedConfiguration;
  /** Returns a drive to the cloud, which sends the configuration without it; rejects with its reason. */
  readonly returnDrive: (uuid: string) => Promise<void>;
}
