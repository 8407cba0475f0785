import ipaddr from 'ipaddr.js';

/** Where connections come from. */
export interface Source {
  /** What the caller asked for, for messages. */
  readonly name: string;
  /** Of the array, at most one of each family. */
  readonly addresses: readonly string[];
  /** Whether a destination that it does not reach is refused; else the machine chooses. */
  readonly isRequired: boolean;
}

/**
 * The address a connection to a destination is bound to. Addresses of the loopback reach nothing but the machine, and
 * nothing but them reaches its loopback.
 */
export function localAddressFor({ name, addresses, isRequired }: Source, destination: string): string | undefined {
  const found = addresses.find((address) => reaches(address, destination));
  if (found !== undefined || !isRequired) return found;
  throw new Error(`it cannot be reached from ${addresses.join(' or ')}, the address of ${name}`);
}

function reaches(address: string, destination: string): boolean {
  const [from, to] = [ipaddr.process(address), ipaddr.process(destination)];
  return from.kind() === to.kind() && (from.range() === 'loopback') === (to.range() === 'loopback');
}
