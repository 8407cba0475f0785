import { fail, type Db } from '@granary/kernel';
import { findShare, type Share } from './repository.ts';

/** Of a block volume: `state_conflict`. */
export function shareOf(db: Db, volume: string): Share {
  const share = findShare(db, volume);
  if (!share) throw fail('not_a_share', { id: volume });
  return share;
}
