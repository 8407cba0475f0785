import type { HostedConfiguration } from './configuration.ts';

/** What an array returns: a drive, or the proxy controllers beyond those it keeps. */
export type GivenBack = { readonly drive: string } | { readonly proxiesKept: number };

/** From the cloud to an array process. Stopping is a signal, not a message: it works on a hanging process, too. */
export type ToProgram =
  | { readonly kind: 'start'; readonly configuration: HostedConfiguration }
  | { readonly kind: 'change'; readonly id: number; readonly configuration: HostedConfiguration }
  | { readonly kind: 'returned'; readonly id: number; readonly problem: string | null }
  /** Answered by the main thread at once. */
  | { readonly kind: 'health'; readonly id: number };

/** An address that an array should listen on and does not. */
export interface UnboundAddress {
  readonly address: string;
  readonly reason: string;
}

/** The addresses an array listens on, and those it should but cannot. */
export interface Listening {
  readonly bound: readonly string[];
  readonly unbound: readonly UnboundAddress[];
}

/** The encryption of an array came or went. */
export interface EncryptionChange {
  /** Never given again. */
  readonly id: string;
  readonly active: boolean;
  /** By the clock of the machine, which the cloud shares. */
  readonly at: number;
}

/** From an array process to its cloud. */
export type FromProgram =
  /** Its start has reached this stage, or has progressed within it. */
  | { readonly kind: 'progress'; readonly stage: string }
  | { readonly kind: 'healthy'; readonly id: number }
  | ({ readonly kind: 'ready' } & Listening)
  | ({ readonly kind: 'changed'; readonly id: number } & Listening)
  /** It is ready and its addresses have changed. */
  | ({ readonly kind: 'listening' } & Listening)
  /** The last changes of its encryption, all of those it keeps. */
  | { readonly kind: 'encryption'; readonly changes: readonly EncryptionChange[] }
  | { readonly kind: 'refused'; readonly id: number; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }
  /** Returns a resource; the cloud answers once it is free, after sending the configuration without it. */
  | { readonly kind: 'return'; readonly id: number; readonly what: GivenBack };
