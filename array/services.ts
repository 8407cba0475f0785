import type { Clock, EventLog, HostedConfiguration, Store, Vault } from '@granary/kernel';
import type { Heartbeat } from './controllers/heartbeat.ts';
import { controllerRoutes } from './controllers/routes.ts';
import { Controllers } from './controllers/service.ts';
import { driveRoutes } from './drives/routes.ts';
import { Drives } from './drives/service.ts';
import { messageRoutes } from './messages/routes.ts';
import { userRoutes } from './users/routes.ts';
import { Users } from './users/service.ts';

/** What every resource of an array is built from. */
export interface ArrayTools {
  readonly store: Store;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly heartbeat: Heartbeat;
  /** Asked each time it matters: the cloud may change it while the array runs. */
  readonly configuration: () => HostedConfiguration;
}

export function createServices(tools: ArrayTools) {
  const { store, events } = tools;
  const users = new Users(tools);
  const drives = new Drives(tools);
  const controllers = new Controllers(tools);
  const handlers = {
    users: userRoutes(users),
    drives: driveRoutes(drives),
    controllers: controllerRoutes(controllers),
    messages: messageRoutes(store, events),
  };
  return { users, drives, controllers, handlers };
}
