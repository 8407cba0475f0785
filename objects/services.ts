import type { Clock, EventLog, HostedConfiguration, Store, Vault } from '@granary/kernel';
import { messageRoutes } from './messages/routes.ts';
import { roleRoutes } from './roles/routes.ts';
import { settingsRoutes } from './settings/routes.ts';
import { ArraySettings } from './settings/service.ts';
import { userRoutes } from './users/routes.ts';
import { Users } from './users/service.ts';

/** What every resource of an object storage array is built from. */
export interface ObjectsTools {
  readonly store: Store;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly events: EventLog;
  /** Asked each time it matters: the cloud may change it while the array runs. */
  readonly configuration: () => HostedConfiguration;
}

export function createServices(tools: ObjectsTools) {
  const { store, events, configuration } = tools;
  const settings = new ArraySettings(tools);
  const users = new Users({ ...tools, tokenMinutes: () => settings.current().settings.tokenMinutes });
  const handlers = {
    users: userRoutes(users, () => configuration().managementUrl),
    roles: roleRoutes,
    settings: settingsRoutes(settings),
    messages: messageRoutes(store, events),
  };
  return { settings, users, handlers };
}
