import { BATCH_ROWS } from '../layout.ts';
import type { GroupCore } from '../core.ts';
import { examineRows } from './group-scrubber.ts';
import { readSuperblock } from '../members/superblock.ts';

export interface Finding {
  readonly kind: 'superblock' | 'mismatch' | 'lost';
  readonly message: string;
}

const FINDINGS_MAX = 1000;

/** Checks the invariants of a group at rest: superblocks agree, checksums match, copies and parity are consistent. */
export async function verifyGroup(core: GroupCore): Promise<Finding[]> {
  const findings = await verifySuperblocks(core);
  for (let region = 0; region < core.layout.regions && findings.length < FINDINGS_MAX; region += 1) {
    if (await core.isUnused(region)) continue;
    const { first, end } = core.rowsOf(region);
    for (let row = first; row < end && findings.length < FINDINGS_MAX; row += BATCH_ROWS) {
      const count = Math.min(BATCH_ROWS, end - row);
      const { mismatches, lost } = await examineRows(core, row, count, false);
      const place = `in rows ${row} to ${row + count - 1}`;
      if (mismatches > lost)
        findings.push({ kind: 'mismatch', message: `${mismatches - lost} blocks differ ${place}` });
      if (lost > 0) findings.push({ kind: 'lost', message: `${lost} blocks are lost ${place}` });
    }
  }
  return findings;
}

async function verifySuperblocks(core: GroupCore): Promise<Finding[]> {
  const findings: Finding[] = [];
  await core.enter();
  for (const member of core.membership.writers) {
    const found = await readSuperblock(member.drive).catch(() => undefined);
    const wanted = core.membership.superblock(member.uuid);
    if (found !== undefined && JSON.stringify(found.superblock) === JSON.stringify(wanted)) continue;
    const what = found === undefined ? 'has no superblock' : 'has a superblock that says something else';
    findings.push({ kind: 'superblock', message: `Drive ${member.drive.id} ${what}` });
  }
  return findings;
}
