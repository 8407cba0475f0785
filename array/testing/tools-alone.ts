import { join } from 'node:path';
import { createLog, EventLog, type HostedConfiguration, Jobs, type ManualClock, Store, Vault } from '@granary/kernel';
import type { Engine } from '../engine/engine.ts';
import { migrations } from '../migrations.ts';
import { Readings } from '../readings/readings.ts';
import type { ArrayTools } from '../tools.ts';

interface ToolsAlone {
  readonly folder: string;
  readonly engine: Engine;
  readonly clock: ManualClock;
  readonly configuration?: Partial<HostedConfiguration>;
}

/** What services of an array are built from, without HTTP and on an engine that is a fake. */
export function toolsAlone({ folder, engine, clock, configuration = {} }: ToolsAlone): ArrayTools {
  const store = new Store(join(folder, 'array.db'), migrations);
  const log = createLog('array', 'silent');
  return {
    store,
    log,
    clock,
    engine,
    events: new EventLog(clock),
    jobs: new Jobs({ store, clock, log }),
    readings: new Readings(engine, log),
    vault: new Vault(Buffer.alloc(32)),
    configuration: () => configuration as HostedConfiguration,
    returnDrive: async () => undefined,
  };
}
