/** What happens on a server that someone may want to know of. */
export type NfsEvent =
  | { readonly type: 'mounted' | 'unmounted'; readonly address: string; readonly path: string }
  | { readonly type: 'mount-refused'; readonly address: string; readonly path: string; readonly reason: string }
  | { readonly type: 'client-confirmed'; readonly address: string; readonly client: string }
  /** The lease ran out: its opens and locks are gone. */
  | { readonly type: 'client-expired'; readonly client: string }
  | { readonly type: 'grace-began'; readonly clients: number }
  | { readonly type: 'grace-ended'; readonly missing: number }
  | { readonly type: 'crowded'; readonly address: string; readonly dropped: number; readonly refused: number }
  | { readonly type: 'connection-dropped'; readonly address: string; readonly reason: string }
  | { readonly type: 'internal-error'; readonly address: string; readonly error: unknown };
