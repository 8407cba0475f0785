import {
  createLog,
  EventLog,
  Jobs,
  operationsOf,
  Store,
  systemClock as clock,
  Vault,
  type HostedConfiguration,
} from '@granary/kernel';
import type { ObjectEngine } from './engine/engine.ts';
import { migrations } from './migrations.ts';
import { createServices } from './services.ts';

/** Handlers are counted here, never called. */
const notRunning = {} as HostedConfiguration;

const noUsage = { buckets: 0, objects: 0, bytes: 0, policies: [] };

/** The operations of its contract that object storage implements. */
export function servedOperations(): string[] {
  const store = new Store(':memory:', migrations);
  const log = createLog('objects', 'silent');
  const { handlers } = createServices({
    store,
    vault: new Vault(Buffer.alloc(32)),
    clock,
    events: new EventLog(clock),
    jobs: new Jobs({ store, clock, log }),
    log,
    changed: () => undefined,
    commit: () => Promise.reject(new Error('not running')),
    figures: { usage: () => noUsage },
    engine: {} as ObjectEngine,
    returnDrive: () => Promise.resolve(),
    returnProxies: () => Promise.resolve(),
    publicUrls: () => [],
    openStore: (_, own) => new Store(':memory:', own),
    configuration: () => notRunning,
  });
  store.close();
  return operationsOf(handlers);
}
