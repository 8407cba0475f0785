import type { ArraySpec } from '@granary/contract/cloud';
import { addressesOfInterface, badParameters, type Tx } from '@granary/kernel';
import { canonicalAddress, isUnspecified } from '../addresses/canonical.ts';
import { claimAddress, findOwner, releaseAddresses } from '../addresses/repository.ts';
import { hasAddress, type HostedRecord } from './repository.ts';

export interface Surroundings {
  /** Where the cloud itself listens. */
  readonly host: string;
  /** The range of the cloud's own that an address is in. */
  readonly rangeOf: (address: string) => string | undefined;
  /** What the machine's own network interfaces have. */
  readonly machineAddresses: () => readonly string[];
}

type WantedInterface = ArraySpec['interfaces'][number];

/**
 * Makes the addresses of an array's interfaces its own, in the transaction that changes the array. An address has one
 * array, whatever its VLAN: VLANs are not separated on the machine, and a second listener would be taken for the first.
 * What an array had before stays as it was, so that it can still be changed and stopped.
 */
export function claimInterfaces(
  tx: Tx,
  array: HostedRecord,
  interfaces: readonly WantedInterface[],
  surroundings: Surroundings,
): void {
  const had = new Set(array.spec.interfaces.flatMap(addressesOfInterface).map(canonicalAddress));
  const all = interfaces.flatMap((one) => addressesOfInterface(one).map((address) => ({ ...one, address })));
  const problems: string[] = [];
  releaseAddresses(
    tx,
    array.number,
    all.map(({ address }) => canonicalAddress(address)),
  );
  for (const wanted of all) {
    const address = canonicalAddress(wanted.address);
    const owner = findOwner(tx, address);
    if (owner === array.number) continue;
    const problem = owner === undefined ? problemOf(tx, wanted, surroundings) : 'is taken by another array';
    if (problem !== undefined && !had.has(address))
      problems.push(`at interfaces: ${wanted.address} of interface ${wanted.id} ${problem}`);
    if (problem === undefined) claimAddress(tx, address, array.number);
  }
  if (problems.length > 0) throw badParameters(problems.map((message) => ({ field: 'spec', message })));
}

function problemOf(
  tx: Tx,
  { address, forced = false }: WantedInterface,
  { host, rangeOf, machineAddresses }: Surroundings,
): string | undefined {
  const plain = canonicalAddress(address);
  const range = rangeOf(address);
  if (range !== undefined) return `is in ${range}, which this cloud gives out itself`;
  if (plain === canonicalAddress(host) || isUnspecified(address) || hasAddress(tx, plain))
    return 'is taken by the cloud or an array';
  if (!forced && machineAddresses().includes(plain)) return 'is an address of the machine itself';
  return undefined;
}
