import { arrayApi } from '@granary/contract/array';
import type { Endpoint } from '@granary/contract';
import { fail, type HostedConfiguration } from '@granary/kernel';

const { fileCategories, lifecyclePolicies } = arrayApi.groups;
const OF_LIFECYCLE = new Set(
  [...Object.values(fileCategories), ...Object.values(lifecyclePolicies)].map(
    ({ method, path }) => `${method} ${path}`,
  ),
);
/** Values of `flcenabled` that begin something; what is on already can be paused and disabled. */
const BEGINS: readonly unknown[] = [true, 'enable', 'resume'];

/** Refuses what the array was not ordered with, before anything is stored. */
export function refuseNotOrdered(
  { fileLifecycle, displayName }: Pick<HostedConfiguration, 'fileLifecycle' | 'displayName'>,
  { method, path }: Pick<Endpoint, 'method' | 'path'>,
  input: Readonly<Record<string, unknown>>,
): void {
  if (fileLifecycle || method === 'GET') return;
  if (OF_LIFECYCLE.has(`${method} ${path}`) || BEGINS.includes(input['flcenabled']))
    throw fail('lifecycle_not_ordered', { name: displayName });
}
