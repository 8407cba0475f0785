import type { Bytes } from '@granary/kernel';

/** A drive of a node, free or of an array. */
export interface Drive {
  readonly uuid: string;
  readonly type: string;
  readonly node: string;
  readonly zone: string;
  readonly capacity: Bytes;
  /** The number of the array that has it, and its number there; null while it is free. */
  readonly array: number | null;
  readonly number: number | null;
  readonly policy: string | null;
  readonly hasFile: boolean;
}

/** A drive some array has. */
export interface PlacedDrive extends Drive {
  readonly array: number;
  readonly number: number;
}

export type NewDrive = Pick<Drive, 'uuid' | 'type' | 'node' | 'zone' | 'capacity'>;
