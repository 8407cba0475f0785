import { join } from 'node:path';
import { runQuietly } from '../run.ts';
import { product, sdk, stage } from './stage.ts';
import { ROOT } from './sources.ts';

/** Writes the packages `build/granary-<version>.tgz` and `build/granary-client-<version>.tgz`. */
for (const one of [sdk, product]) {
  const folder = await stage(one);
  const { code, output } = await runQuietly('npm', [
    'pack',
    folder,
    '--pack-destination',
    join(ROOT, 'build'),
    '--silent',
  ]);
  process.stdout.write(`${one.name}: ${output.trim().split('\n').at(-1) ?? ''}\n`);
  if (code !== 0) process.exitCode = 1;
}
