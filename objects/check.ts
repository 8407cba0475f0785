import { join } from 'node:path';
import type { HostedConfiguration } from '@granary/kernel';
import { checkObjects, type ObjectsCheckReport } from '@granary/storage/objects';

/** Proves of object storage that is not running that its index and its drives agree. Changes nothing. */
export function checkObjectStorage({ folder }: HostedConfiguration): Promise<ObjectsCheckReport> {
  return checkObjects(join(folder, 'index.db'));
}
