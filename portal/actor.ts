import type { PortalRole } from '@granary/contract/portal';
import type { Actor } from '@granary/kernel';
import type { UserId } from './ids.ts';

/** A signed-in portal user. */
export interface PortalActor extends Actor {
  readonly userId: UserId;
  readonly username: string;
  readonly role: PortalRole;
  readonly autoApproved: boolean;
}

/** The id of an actor who is that user. */
export function actorIdOf(userId: UserId): string {
  return `user:${userId}`;
}

/**
 * Whose records the actor sees, for the `WHERE` of every query: their own, or all (null) for an
 * administrator. A record of another user is simply not found.
 */
export function scopeOf(actor: PortalActor): number | null {
  return actor.role === 'admin' ? null : actor.userId;
}

export function isAdmin(actor: PortalActor): boolean {
  return actor.role === 'admin';
}

/** Whether orders of this user act at once. */
export function mayActAtOnce(actor: PortalActor): boolean {
  return isAdmin(actor) || actor.autoApproved;
}
