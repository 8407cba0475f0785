import type { ArrayId, InterfaceId, NetworkId } from '../../ids.ts';

/** An array's place in a virtual network. */
export interface InterfacePlace {
  readonly id: InterfaceId;
  readonly arrayId: ArrayId;
  readonly networkId: NetworkId;
  readonly address: string;
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
  readonly netmask: string;
  readonly gateway: string | null;
  /** An administrator allowed the network's range whatever it overlaps. */
  readonly forced: boolean;
}
