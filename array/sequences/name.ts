import type { Brand } from '@granary/kernel';

/** What the array calls a thing of a kind: `volume-00000001`. */
export type Name<Kind extends string> = Brand<string, Kind>;
