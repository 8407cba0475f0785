import type { Counters } from './session/counters.ts';

/** What happens on a server that someone may want to know of. */
export type IscsiEvent =
  | {
      readonly type: 'login';
      readonly address: string;
      readonly initiator: string;
      readonly target: string | undefined;
      /** What `authorise` knows the initiator by. */
      readonly label: string;
    }
  | { readonly type: 'login-refused'; readonly address: string; readonly initiator: string; readonly reason: string }
  | {
      readonly type: 'session-ended';
      readonly address: string;
      readonly initiator: string;
      readonly target: string;
      readonly label: string;
      readonly reason: string;
      /** What it did in all. */
      readonly counters: Readonly<Counters>;
    }
  | {
      /** All places were taken: connections were dropped or refused, most of them of this address. */
      readonly type: 'crowded';
      readonly address: string;
      readonly dropped: number;
      readonly refused: number;
    }
  | { readonly type: 'connection-dropped'; readonly address: string; readonly reason: string }
  | { readonly type: 'internal-error'; readonly address: string; readonly error: unknown };
