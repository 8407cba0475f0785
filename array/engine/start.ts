import { engineKind } from '@granary/kernel';
import type { CheckedConfiguration, EngineCheck } from './check.ts';
import type { EngineSetup, RunningEngine, StartEngine } from './running-engine.ts';

/** A kind of engine. Its code is loaded only where it is used. */
export interface EngineKind {
  load(): Promise<StartEngine>;
  /** Proves of a stopped array that its bytes are sound; without it nothing can be proved. */
  check?(configuration: CheckedConfiguration, isShare: (volume: string) => boolean): Promise<EngineCheck>;
  /** Loads everything it may load later, so that it is compiled beforehand. */
  prepare?(): Promise<unknown>;
}

/** By the name in the array's configuration. A new engine is added here and nowhere else. */
export const ENGINES: Readonly<Record<string, EngineKind>> = {
  embedded: {
    load: async () => (await import('./embedded/start.ts')).startEmbeddedEngine,
    check: async (configuration, isShare) =>
      (await import('./embedded/start.ts')).checkEmbeddedEngine(configuration, isShare),
    prepare: async () => (await import('./embedded/start.ts')).prepareEmbeddedEngine(),
  },
};

export async function startEngine(setup: EngineSetup, engines = ENGINES): Promise<RunningEngine> {
  const start = await kindOf(setup.configuration, engines).load();
  return start(setup);
}

export async function prepareEngines(): Promise<void> {
  for (const kind of Object.values(ENGINES)) await kind.prepare?.();
}

export function kindOf(configuration: { readonly storageEngine?: string }, engines = ENGINES): EngineKind {
  return engineKind(configuration, engines);
}
