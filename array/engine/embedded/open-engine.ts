import { join } from 'node:path';
import type { HostedDrive } from '@granary/kernel';
import type { ActiveEngine, ActiveEngineHooks, ControllerConfiguration } from '../controllers/protocol.ts';
import { targetOf } from '../controllers/target.ts';
import { EmbeddedEngine } from './embedded-engine.ts';
import { Exports } from './exports.ts';
import type { Portals } from './portals.ts';
import { reasonOf } from './refused.ts';
import type { EngineDriveSetup } from './setup.ts';

const GIGABYTE = 2 ** 30;

/** What an active controller runs: the embedded engine, and the iSCSI target that shows its volumes. */
export async function openEngine(first: ControllerConfiguration, hooks: ActiveEngineHooks): Promise<ActiveEngine> {
  let configuration = first;
  let isServing = false;
  const exporting: { current?: Exports } = {};
  const { folder, internalName } = first;
  const target = targetOf(internalName);
  const engine = new EmbeddedEngine({
    folder,
    drives: drivesOf(first.drives),
    onEvent: hooks.onEvent,
    onStage: hooks.onStage,
    exports: (source) => {
      exporting.current = new Exports({
        target,
        controller: hooks.controller,
        folder: join(folder, 'reservations'),
        device: (volume) => source.device(volume),
        onEvent: hooks.onEvent,
        onProblem: (text, error) => hooks.log({ level: 'warn', text, facts: { problem: reasonOf(error) } }),
      });
      return exporting.current;
    },
  });
  await engine.open();
  return {
    engine,
    async serve() {
      isServing = true;
      await exporting.current?.serve(portalsOf(configuration));
    },
    async follow(next) {
      configuration = next;
      await engine.followDrives(drivesOf(next.drives));
      if (isServing) await exporting.current?.serve(portalsOf(next));
    },
    close: () => engine.close(),
  };
}

export function drivesOf(drives: readonly HostedDrive[]): EngineDriveSetup[] {
  return drives.map(({ uuid, file, capacityGb }) => ({ id: uuid, file, sizeBytes: capacityGb * GIGABYTE }));
}

function portalsOf({ management, dataPort, publicAddress, interfaces }: ControllerConfiguration): Portals {
  const others = [...(publicAddress === null ? [] : [publicAddress]), ...interfaces.map(({ address }) => address)];
  return [{ host: management.host, port: dataPort }, ...others.map((host) => ({ host, port: dataPort }))];
}
