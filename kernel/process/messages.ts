import type { HostedConfiguration } from './configuration.ts';

/** What an array no longer needs: a drive, or the proxy controllers beyond those it keeps. */
export type GivenBack = { readonly drive: string } | { readonly proxiesKept: number };

/** From the cloud to an array process. Stopping is a signal, not a message: it works on a process that hangs, too. */
export type ToProgram =
  | { readonly kind: 'start'; readonly configuration: HostedConfiguration }
  | { readonly kind: 'change'; readonly id: number; readonly configuration: HostedConfiguration }
  | { readonly kind: 'returned'; readonly id: number; readonly problem: string | null };

/** From an array process to its cloud. `bound` names the addresses it listens on. */
export type FromProgram =
  | { readonly kind: 'ready'; readonly bound: readonly string[] }
  | { readonly kind: 'changed'; readonly id: number; readonly bound: readonly string[] }
  | { readonly kind: 'refused'; readonly id: number; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }
  /** Gives something back; the cloud answers once it is free, and tells the configuration without it before. */
  | { readonly kind: 'return'; readonly id: number; readonly what: GivenBack };
