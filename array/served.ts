import {
  createLog,
  EventLog,
  Jobs,
  operationsOf,
  Store,
  systemClock,
  Vault,
  type HostedConfiguration,
} from '@granary/kernel';
import { Heartbeat } from './controllers/heartbeat.ts';
import type { Engine } from './engine/engine.ts';
import { migrations } from './migrations.ts';
import { Readings } from './readings/readings.ts';
import { createServices } from './services.ts';

/** Handlers are counted here, never called. */
const notRunning = {} as HostedConfiguration;
const noEngine = {} as Engine;

/** The operations of its contract that a storage array implements. */
export function servedOperations(): string[] {
  const store = new Store(':memory:', migrations);
  const log = createLog('array', 'silent');
  const { handlers } = createServices({
    store,
    log,
    jobs: new Jobs({ store, clock: systemClock, log }),
    engine: noEngine,
    readings: new Readings(noEngine, log),
    vault: new Vault(Buffer.alloc(32)),
    clock: systemClock,
    events: new EventLog(systemClock),
    heartbeat: new Heartbeat(systemClock),
    configuration: () => notRunning,
    returnDrive: () => Promise.resolve(),
  });
  store.close();
  return operationsOf(handlers);
}
