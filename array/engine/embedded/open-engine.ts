import { join } from 'node:path';
import { allowsHelper } from '@granary/kernel/limits';
import { otherAddresses } from '@granary/kernel/addresses';
import type { HostedDrive } from '@granary/kernel';
import { HelperThread } from '@granary/storage';
import type { ActiveEngine, ActiveEngineHooks, ControllerConfiguration } from '../controllers/protocol.ts';
import { targetsOf } from '../controllers/target.ts';
import { composeEngine } from './compose-engine.ts';
import { EmbeddedEngine } from './embedded-engine.ts';
import { EngineExports } from './exports/exports.ts';
import type { Portals } from './exports/portals.ts';
import { reasonOf } from './refused.ts';
import type { EngineDriveSetup } from './setup.ts';
import { EngineShares } from './shares/shares.ts';

const GIGABYTE = 2 ** 30;

/** What an active controller runs: the embedded engine, the iSCSI target that shows its volumes, and its file shares. */
export async function openEngine(first: ControllerConfiguration, hooks: ActiveEngineHooks): Promise<ActiveEngine> {
  let configuration = first;
  let isServing = false;
  const serving: { exports?: EngineExports; shares?: EngineShares } = {};
  const { folder, uuid } = first;
  const { controller } = hooks;
  if (!allowsHelper(first.limits)) HelperThread.doWithout();
  const onProblem = (text: string, error: unknown) =>
    hooks.log({ level: 'warn', text, facts: { problem: reasonOf(error) } });
  const engine = new EmbeddedEngine({
    folder,
    drives: drivesOf(first.drives),
    onEvent: hooks.onEvent,
    onStage: hooks.onStage,
    exports: (source) => {
      serving.exports = new EngineExports({
        targets: targetsOf(first),
        controller,
        folder: join(folder, 'reservations'),
        device: (volume) => source.device(volume),
        onEvent: hooks.onEvent,
        onProblem,
      });
      return serving.exports;
    },
    shares: (source) => {
      const { onEvent } = hooks;
      serving.shares = new EngineShares({ source, folder, controller, serverName: uuid, onEvent, onProblem });
      return serving.shares;
    },
  });
  const serve = async () => {
    await serving.exports?.serve(portalsOf(configuration, configuration.dataPort));
    await serving.shares?.serve(portalsOf(configuration, configuration.filePort));
  };
  await engine.open();
  const { shares } = serving;
  if (!shares) throw new Error('an open engine has shares');
  return {
    engine: composeEngine(engine, shares, shares.limits, shares.files),
    async serve() {
      isServing = true;
      await serve();
    },
    async follow(next) {
      configuration = next;
      await engine.followDrives(drivesOf(next.drives));
      if (isServing) await serve();
    },
    close: () => engine.close(),
  };
}

export function drivesOf(drives: readonly HostedDrive[]): EngineDriveSetup[] {
  return drives.map(({ uuid, file, capacityGb }) => ({ id: uuid, file, sizeBytes: capacityGb * GIGABYTE }));
}

function portalsOf(configuration: ControllerConfiguration, port: number): Portals {
  const others = otherAddresses(configuration).map((host) => ({ host, port }));
  return [{ host: configuration.management.host, port }, ...others];
}
