import type { Clock, EventLog, Jobs, Log, Store, Vault } from '@granary/kernel';
import type { CloudConnections } from './tls/cloud-connections.ts';
import type { PortalPlace } from './tls/place.ts';

/** What every service of the portal is built from. */
export interface Tools {
  readonly store: Store;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly log: Log;
  readonly jobs: Jobs;
  readonly events: EventLog;
  readonly connections: CloudConnections;
  readonly place: PortalPlace;
}
