import type { ObjectsRole } from '@granary/contract/objects';
import type { Actor } from '@granary/kernel';

export interface ObjectsActor extends Actor {
  readonly role: ObjectsRole;
  readonly username: string;
  /** Null for the portal, which belongs to none. */
  readonly accountId: string | null;
}

/** The account that an actor is limited to; null for administrators of the array. */
export function scopeOf({ role, accountId }: ObjectsActor): string | null {
  return role === 'objs_admin' ? null : (accountId ?? '');
}
