import type { Database } from '@granary/kernel/sqlite';
import { openPoolDatabase } from '../metadata/pool-database.ts';
import { Catalogue } from '../pool/catalogue.ts';
import { checkReduced } from '../volume/reduced/check.ts';
import type { CheckContext, CheckedGroup } from './check-context.ts';
import { checkExtents, type ExtentTotals } from './extents.ts';
import { checkNames } from './names.ts';

/** A violated invariant. */
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

/** A recorded volume, with its snapshots. */
export interface CheckedVolume {
  readonly id: string;
  readonly sizeBytes: number;
  readonly snapshots: readonly { readonly id: string; readonly sizeBytes: number; readonly takenAt: Date }[];
}

export interface CheckSetup {
  /** The metadata of a pool that is not open. */
  readonly file: string;
  readonly groups: readonly CheckedGroup[];
  /** Repair what can be repaired; otherwise nothing is changed. */
  readonly repair?: boolean;
}

/**
 * Verifies the metadata of a pool: names refer to layers, layers to their parents, every extent lies in the pool and
 * has one owner, free and used extents add up to the total, and the groups' copies, parity and checksums match.
 */
export async function checkPool(setup: CheckSetup): Promise<CheckReport> {
  const database = openPoolDatabase(setup.file);
  const findings: CheckFinding[] = [];
  const check: CheckContext = {
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

async function checkGroups(check: CheckContext): Promise<void> {
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
