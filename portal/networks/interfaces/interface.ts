import type { ArrayId, InterfaceId, NetworkId } from '../../ids.ts';

/** An array's place in a virtual network. */
export interface InterfacePlace {
  readonly id: InterfaceId;
  readonly arrayId: ArrayId;
  readonly networkId: NetworkId;
  /** IPv4, where the network has it. */
  readonly address: string;
  /** The second one, in a network of both families. */
  readonly ipv6Address: string | null;
  /** Whether the array has it. */
  readonly attached: boolean;
  /** Whether the array listens there, as its cloud last said, and why not. */
  readonly bound: boolean;
  readonly problem: string | null;
}

/** With what the array must know of the network. */
export interface ArrayInterface extends InterfacePlace {
  /** Of the network. */
  readonly name: string;
  readonly vlanId: number;
  /** Of the address. */
  readonly netmask: string;
  readonly gateway: string | null;
  /** The way out for arrays in the second zone. */
  readonly gatewayZone1: string | null;
  /** Of the second address. */
  readonly ipv6: Pick<ArrayInterface, 'netmask' | 'gateway' | 'gatewayZone1'> | null;
  /** An administrator allowed the network's range whatever it overlaps. */
  readonly forced: boolean;
}

/** The way out of a network, for arrays of a zone. */
export function gatewayFor(
  { gateway, gatewayZone1 }: Pick<ArrayInterface, 'gateway' | 'gatewayZone1'>,
  isSecondZone: boolean,
): string | null {
  return isSecondZone ? (gatewayZone1 ?? gateway) : gateway;
}
