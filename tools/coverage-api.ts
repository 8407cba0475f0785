import { operations, type Api } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import { objectsApi } from '@granary/contract/objects';
import { portalApi } from '@granary/contract/portal';
import { servedOperations as servedByArray } from '@granary/array';
import { servedOperations as servedByObjects } from '@granary/objects';
import { servedOperations as servedByPortal } from '@granary/portal';

/** How much of each API a service implements; the rest of the contract answers 501. */
function report(api: Api, served: readonly string[]): { total: number; implemented: number } {
  const all = operations(api).map(({ id }) => id);
  const missing = all.filter((id) => !served.includes(id));
  const implemented = all.length - missing.length;
  process.stdout.write(`${api.name.padEnd(8)} ${implemented} of ${all.length} endpoints implemented\n`);
  if (missing.length > 0 && process.argv.includes('--missing'))
    process.stdout.write(`${missing.map((id) => `  ${id}`).join('\n')}\n`);
  return { total: all.length, implemented };
}

const counts = [
  report(portalApi, servedByPortal()),
  report(arrayApi, servedByArray()),
  report(objectsApi, servedByObjects()),
];
const sum = (field: 'total' | 'implemented') => counts.reduce((total, count) => total + count[field], 0);
process.stdout.write(`in all   ${sum('implemented')} of ${sum('total')}\n`);
