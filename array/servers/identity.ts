import { badParameter } from '@granary/kernel';
import type { ServerFields } from './server.ts';
import { readAddress, readWwpns } from './rules.ts';

/** How a server is recognised, as callers give it. */
export interface IdentityRequest {
  readonly iqn?: string | undefined;
  readonly iscsi?: string | undefined;
  readonly wwpns?: readonly string[] | undefined;
  readonly add_wwpns?: readonly string[] | undefined;
  readonly remove_wwpns?: readonly string[] | undefined;
}

export interface Identity extends Pick<ServerFields, 'iqn' | 'address'> {
  readonly wwpns: readonly string[];
}

export const NO_IDENTITY: Identity = { iqn: null, address: null, wwpns: [] };

/** What a server is recognised by after a change; it must be something. */
export function changedIdentity(before: Identity, wanted: IdentityRequest): Identity {
  const after = {
    iqn: wanted.iqn ?? before.iqn,
    address: wanted.iscsi === undefined ? before.address : readAddress(wanted.iscsi),
    wwpns: changedWwpns(before.wwpns, wanted),
  };
  if (after.iqn === null && after.address === null && after.wwpns.length === 0)
    throw wanted.remove_wwpns === undefined
      ? badParameter('iqn', 'is required, unless iscsi or wwpns is given')
      : badParameter('remove_wwpns', 'would leave nothing to recognise the server by; give it an iqn first');
  return after;
}

function changedWwpns(before: readonly string[], wanted: IdentityRequest): string[] {
  const kept = wanted.wwpns === undefined ? before : readWwpns('wwpns', wanted.wwpns);
  const added = readWwpns('add_wwpns', wanted.add_wwpns ?? []);
  const removed = new Set(readWwpns('remove_wwpns', wanted.remove_wwpns ?? []));
  return [...new Set([...kept, ...added])].filter((wwpn) => !removed.has(wwpn));
}
