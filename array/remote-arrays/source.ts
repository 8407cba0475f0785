import { addressesOfInterface, badParameter, type HostedConfiguration } from '@granary/kernel';
import type { Source } from '../outgoing/source.ts';
import type { RemoteArray } from './remote-array.ts';

type Interface = RemoteArray['interface'];

/** Where connections to a remote array come from: the address the array has there now. */
export function sourceOf(
  { management, publicAddress, interfaces }: HostedConfiguration,
  name: Interface,
): Source | undefined {
  if (name === 'fe') return { name, addresses: [management.host], isRequired: false };
  const [first] = interfaces;
  const ofPublic = publicAddress === null ? [] : [publicAddress];
  const addresses = name === 'public' ? ofPublic : first ? addressesOfInterface(first) : [];
  return addresses.length === 0 ? undefined : { name, addresses, isRequired: true };
}

/** Before anything is asked of the other array. */
export function refuseMissing(configuration: HostedConfiguration, name: Interface): void {
  if (sourceOf(configuration, name) === undefined) throw badParameter('interface', MISSING[name]);
}

const MISSING: Record<Interface, string> = {
  fe: 'is not there',
  public: 'is public, and the array has no public address; give it one at the portal, or leave it out',
  vni0: 'is vni0, and the array is in no virtual network; add it to one at the portal, or leave it out',
};

/** The way there, while the array has an address on it. */
export function currentSource(configuration: HostedConfiguration, name: Interface): Source {
  const source = sourceOf(configuration, name);
  if (source) return source;
  throw new Error(`the interface to reach it by ${MISSING[name]}`);
}
