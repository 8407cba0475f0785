import { createLog, EventLog, Jobs, operationsOf, Store, systemClock, Vault } from '@granary/kernel';
import { migrations } from './migrations.ts';
import { createServices } from './services.ts';
import { CloudConnections } from './tls/cloud-connections.ts';
import { PortalPlace } from './tls/place.ts';

/** The operations of the portal's contract that it implements. */
export function servedOperations(): string[] {
  const store = new Store(':memory:', migrations);
  const log = createLog('portal', 'silent');
  const jobs = new Jobs({ store, clock: systemClock, log });
  const vault = new Vault(Buffer.alloc(32));
  const { handlers } = createServices({
    store,
    vault,
    clock: systemClock,
    log,
    jobs,
    events: new EventLog(systemClock),
    connections: new CloudConnections({ clock: systemClock }),
    place: new PortalPlace(),
  });
  store.close();
  return operationsOf(handlers);
}
