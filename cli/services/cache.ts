import { getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';

/** Compiled code of arrays is kept beside that of this command, for this user alone. */
export function arrayCacheFolder(): string | undefined {
  const ours = getCompileCacheDir();
  return ours === undefined ? undefined : join(dirname(ours), 'arrays');
}
