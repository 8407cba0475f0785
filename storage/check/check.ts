import type { Database, SqlValue } from '@granary/kernel/sqlite';
import { openPoolDatabase } from '../metadata/pool-database.ts';
import { Catalogue } from '../pool/catalogue.ts';
import type { BlockGroup } from '../raid/group.ts';
import type { Finding as GroupFinding } from '../raid/repair/verify.ts';
import { checkReduced } from '../volume/reduced/check.ts';
import { checkExtents, type ExtentTotals } from './extents.ts';
import { checkNames } from './names.ts';

/** Something that must hold and does not. */
export interface CheckFinding {
  readonly what: string;
  readonly repaired: boolean;
}

export interface CheckReport {
  readonly findings: readonly CheckFinding[];
  readonly volumes: number;
  readonly snapshots: number;
  readonly layers: number;
  readonly extents: ExtentTotals;
  readonly contents: readonly CheckedVolume[];
}

/** A volume on record, with its snapshots. */
export interface CheckedVolume {
  readonly id: string;
  readonly sizeBytes: number;
  readonly snapshots: readonly { readonly id: string; readonly sizeBytes: number; readonly takenAt: Date }[];
}

/** A group that can look at itself; one of memory cannot. */
export interface CheckedGroup extends BlockGroup {
  verify?(): Promise<GroupFinding[]>;
  scrub?(): Promise<unknown>;
}

export interface CheckSetup {
  /** The books of a pool that is not open. */
  readonly file: string;
  readonly groups: readonly CheckedGroup[];
  /** Mend what can be mended; otherwise nothing is changed. */
  readonly repair?: boolean;
}

/** What a part of the check sees and notes. */
export interface Check {
  readonly database: Database;
  readonly repair: boolean;
  readonly groups: ReadonlyMap<string, CheckedGroup>;
  /** Changes the metadata, as part of a repair. */
  change(sql: string, ...values: SqlValue[]): void;
  /** Notes a finding; the mending, if any, happens only when repairs are wanted. */
  found(what: string, repair?: () => void | Promise<void>): Promise<void>;
}

/**
 * Walks everything a pool has on record and proves that it fits: names lead to layers, layers stand on layers, every
 * extent lies in the pool and has one owner, free and used make the total, and the groups' copies, parity and
 * checksums are right.
 */
export async function checkPool(setup: CheckSetup): Promise<CheckReport> {
  const database = openPoolDatabase(setup.file);
  const findings: CheckFinding[] = [];
  const check: Check = {
    database,
    repair: setup.repair === true,
    groups: new Map(setup.groups.map((group) => [group.id, group])),
    change: (sql, ...values) => database.transaction((tx) => void tx.run(sql, ...values)),
    async found(what, mend) {
      const repaired = setup.repair === true && mend !== undefined;
      if (repaired) await mend();
      findings.push({ what, repaired });
    },
  };
  try {
    await checkNames(check);
    const extents = await checkExtents(check);
    for (const problem of checkReduced(database)) await check.found(problem);
    await checkGroups(check);
    if (check.repair) await Promise.all(setup.groups.map((group) => group.flush()));
    return { findings, extents, contents: contentsOf(database), ...countRecords(database) };
  } finally {
    database.close();
  }
}

async function checkGroups(check: Check): Promise<void> {
  for (const [id, group] of check.groups) {
    const findings = (await group.verify?.()) ?? [];
    for (const { kind, message } of findings) {
      const repair = kind === 'mismatch' ? () => Promise.resolve(group.scrub?.()).then(() => undefined) : undefined;
      await check.found(`RAID group ${id}: ${message}`, repair);
    }
  }
}

function contentsOf(database: Database): CheckedVolume[] {
  const catalogue = new Catalogue(database);
  const snapshots = Map.groupBy(catalogue.snapshots(), ({ volume }) => volume);
  return catalogue.volumes().map(({ id, sizeBytes }) => ({ id, sizeBytes, snapshots: snapshots.get(id) ?? [] }));
}

function countRecords(database: Database): { volumes: number; snapshots: number; layers: number } {
  const count = (table: string): number => {
    return database.get<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)?.count ?? 0;
  };
  return { volumes: count('volumes'), snapshots: count('snapshots'), layers: count('layers') };
}
