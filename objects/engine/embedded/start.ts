import { join } from 'node:path';
import type { HostedConfiguration } from '@granary/kernel';
import type { EngineCheck } from '../check.ts';
import type { EngineSetup, RunningEngine } from '../running-engine.ts';
import { EmbeddedObjectEngine, type EmbeddedOptions } from './embedded-engine.ts';

const defaults: EmbeddedOptions = { gathersSmallBodies: true };

export function startEmbeddedEngine(setup: EngineSetup, options = defaults): RunningEngine {
  return new EmbeddedObjectEngine(setup, options);
}

/** What controllers load in their threads. */
export async function prepareEmbeddedEngine(): Promise<void> {
  await import('./controllers/controller-main.ts');
  await import('@granary/protocols/s3');
  await import('@granary/protocols/swift');
}

export async function checkEmbeddedEngine({ folder }: Pick<HostedConfiguration, 'folder'>): Promise<EngineCheck> {
  const { checkObjects } = await import('@granary/storage/objects');
  return checkObjects(join(folder, 'index.db'));
}
