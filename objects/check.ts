import type { HostedConfiguration } from '@granary/kernel';
import type { EngineCheck } from './engine/check.ts';
import { kindOf } from './engine/start.ts';

/** Proves of object storage that is not running that its records and its bytes agree. Changes nothing. */
export function checkObjectStorage(configuration: HostedConfiguration): Promise<EngineCheck> {
  const kind = kindOf(configuration);
  if (!kind.check) throw new Error(`What the ${configuration.storageEngine} engine keeps cannot be checked from here.`);
  return kind.check(configuration);
}
