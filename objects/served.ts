import { EventLog, operationsOf, Store, systemClock, Vault, type HostedConfiguration } from '@granary/kernel';
import { migrations } from './migrations.ts';
import { createServices } from './services.ts';

/** Handlers are counted here, never called. */
const notRunning = {} as HostedConfiguration;

/** The operations of its contract that object storage implements. */
export function servedOperations(): string[] {
  const store = new Store(':memory:', migrations);
  const { handlers } = createServices({
    store,
    vault: new Vault(Buffer.alloc(32)),
    clock: systemClock,
    events: new EventLog(systemClock),
    configuration: () => notRunning,
  });
  store.close();
  return operationsOf(handlers);
}
