import type { Endpoint } from '@granary/contract';
import { fail } from '../errors.ts';
import { PORTAL_ACTOR } from './portal-key.ts';
import type { HostedConfiguration } from './configuration.ts';

/**
 * Refuses what would change an array that is locked down. Who signs in may still read; `allowed` are calls without
 * which its data is not served. The portal refuses its own users, so what it does itself is work that was begun before.
 */
export function refuseWhileLockedDown(
  { lockedDown, displayName }: Pick<HostedConfiguration, 'lockedDown' | 'displayName'>,
  actor: { readonly id: string },
  endpoint: Pick<Endpoint, 'method' | 'path'>,
  allowed: readonly Pick<Endpoint, 'method' | 'path'>[],
): void {
  if (!lockedDown || endpoint.method === 'GET' || actor.id === PORTAL_ACTOR) return;
  if (allowed.some(({ method, path }) => method === endpoint.method && path === endpoint.path)) return;
  throw fail('locked_down', { name: displayName });
}
