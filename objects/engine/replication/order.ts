import type { RemotePlace } from '@granary/protocols/s3/client';
import type { Replication } from '@granary/storage/object-store';

/** A change that a controller is to pass on. Plain data: it crosses threads. */
export interface ReplicationOrder {
  readonly change: Replication;
  readonly place: RemotePlace;
  /** Before the names of the account's objects there. */
  readonly prefix: string;
  /** The other side is an array like this one and takes word that a change is not to be passed on again. */
  readonly marksReplicas: boolean;
}

/** Whose fault it is that a change did not get through, and with it, what waits for what. */
export type ReplicationOutcome =
  | { readonly kind: 'done' }
  /** The version is no longer there; what came after it is passed on by itself. */
  | { readonly kind: 'gone' }
  /** Nothing gets through to the remote endpoint. */
  | { readonly kind: 'unreachable'; readonly reason: string }
  /** The bucket there is missing or closed. */
  | { readonly kind: 'closed'; readonly reason: string }
  /** It could not be read here. */
  | { readonly kind: 'unreadable'; readonly reason: string }
  /** This very object is not taken, however often it is sent. */
  | { readonly kind: 'refused'; readonly reason: string };
