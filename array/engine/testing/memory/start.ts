import { join } from 'node:path';
import { otherAddresses, type HostedConfiguration } from '@granary/kernel';
import { targetsOf } from '../../controllers/target.ts';
import { composeEngine } from '../../embedded/compose-engine.ts';
import { EngineExports } from '../../embedded/exports/exports.ts';
import type { Portals } from '../../embedded/exports/portals.ts';
import { reasonOf } from '../../embedded/refused.ts';
import { EngineShares } from '../../embedded/shares/shares.ts';
import type { EngineSetup, RunningEngine } from '../../running-engine.ts';
import { CHUNK_BYTES } from './memory-bytes.ts';
import { MemoryEngine } from './memory-engine.ts';

const CONTROLLER = 'memory';

/** An engine without drives or controllers, in the thread of the array: what a second engine has to be, and no more. */
export function startMemoryEngine({ configuration: first, log, onEvent }: EngineSetup): Promise<RunningEngine> {
  const { folder, uuid } = first;
  const onProblem = (text: string, error: unknown) => log.warn({ problem: reasonOf(error) }, text);
  const engine = new MemoryEngine();
  const exports = new EngineExports({
    targets: targetsOf(first),
    controller: CONTROLLER,
    folder: join(folder, 'reservations'),
    device: (volume) => engine.find(volume),
    onEvent,
    onProblem,
  });
  const shares = new EngineShares({
    source: { volume: (id) => engine.find(id), snapshot: (id) => engine.findSnapshot(id) },
    folder,
    controller: CONTROLLER,
    serverName: uuid,
    onEvent,
    onProblem,
  });
  engine.users = { exports, shares };
  let configuration = first;
  let isServing = false;
  const serve = async (): Promise<void> => {
    await exports.serve(portalsOf(configuration, configuration.dataPort));
    await shares.serve(portalsOf(configuration, configuration.filePort));
  };
  const methods = composeEngine(engine, shares, shares.limits, shares.files);
  return Promise.resolve({
    engine: Object.assign(methods, { kind: 'memory', allocationBytes: CHUNK_BYTES }),
    async serve() {
      isServing = true;
      await serve();
    },
    async follow(next: HostedConfiguration) {
      configuration = next;
      if (isServing) await serve();
    },
    async stop() {
      await exports.close();
      await shares.close();
    },
  });
}

function portalsOf(configuration: HostedConfiguration, port: number): Portals {
  const others = otherAddresses(configuration).map((host) => ({ host, port }));
  return [{ host: configuration.management.host, port }, ...others];
}
