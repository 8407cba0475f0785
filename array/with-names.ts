import type { Db, GranaryError } from '@granary/kernel';
import { findDrive } from './drives/repository.ts';
import { findPool } from './pools/repository.ts';
import { findRaidGroup } from './raid-groups/repository.ts';
import { findServer } from './servers/repository.ts';
import { findPolicy } from './snapshot-policies/repository.ts';
import { findSnapshot } from './snapshots/repository.ts';
import { findAnyVolume } from './volumes/repository.ts';
import { called } from './wording.ts';

interface Called {
  readonly name: string;
  readonly displayName: string;
}

type Find = (db: Db, name: string) => Called | undefined;

/** By what an identifier begins with. Volumes and drives share one form and one sequence. */
const FINDERS: Readonly<Record<string, Find>> = {
  volume: (db, name) => findAnyVolume(db, name) ?? findDrive(db, name),
  pool: findPool,
  srv: findServer,
  snap: findSnapshot,
  policy: findPolicy,
  RaidGroup: findRaidGroup,
};

/** An identifier that stands by itself: one in brackets has its name before it, and one before brackets is such a name. */
const IDENTIFIER = /(?<![\w/(-])(?:(volume|pool|srv|snap|policy)-[0-9a-f]{8}|(RaidGroup)-\d{1,9})(?![\w/)-]| \()/g;

/** What people typed themselves is repeated as it is, also an identifier of something else than they meant. */
const REPEATED = /^(?:bad_parameter|name_taken|(?!attachment).*_not_found)$/;

/** A sentence as people read it: `Volume volume-00000007 is …` becomes `Volume Ledger (volume-00000007) is …` */
export function withNames(db: Db, text: string): string {
  return text.replace(IDENTIFIER, (id: string, prefix?: string, group?: string) => {
    const found = FINDERS[prefix ?? group ?? '']?.(db, id);
    return found ? called(found) : id;
  });
}

export function messageWithNames(db: Db, { entry, message }: GranaryError): string {
  return REPEATED.test(entry) ? message : withNames(db, message);
}
