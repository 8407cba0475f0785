import { OpenDrives } from '../drives/drives.ts';
import { readIdentity } from '../drives/identity.ts';
import { ObjectError } from '../errors.ts';
import { checkIndex } from '../index/check.ts';
import { openIndexReader } from '../index/database.ts';
import { type DriveCatalogue, type DriveRow, readCatalogue } from '../layout/drive-catalogue.ts';
import type { Layout, LayoutDrive } from '../layout/layout.ts';
import { checkContents } from './contents.ts';
import { PieceCheck, type PieceCounts } from './pieces.ts';
import { type CheckProblem, Problems } from './problems.ts';

export type { CheckProblem } from './problems.ts';

export interface ObjectsCheckReport {
  readonly drives: readonly { readonly number: number; readonly uuid: string; readonly isThere: boolean }[];
  readonly pieces: PieceCounts;
  /** Partitions that wait to be repaired. */
  readonly marked: number;
  readonly segments: number;
  readonly liveBytes: number;
  /** Bytes in segments that no blob names: what was deleted, or never committed. */
  readonly deadBytes: number;
  /** The first thousand of them. */
  readonly problems: readonly CheckProblem[];
  readonly problemCount: number;
}

/**
 * Proves of an object store at rest that index and drives agree: every piece is where its place says and right, whatever
 * is named is there, and counters are sums of what they count. Changes nothing.
 */
export async function checkObjects(indexFile: string): Promise<ObjectsCheckReport> {
  const db = openIndexReader(indexFile);
  const problems = new Problems();
  const drives = new OpenDrives({
    nextSegment: () => Promise.reject(new ObjectError('closed', 'A check writes nothing.')),
    onDriveFailure: () => undefined,
  });
  try {
    const catalogue = readCatalogue(db);
    const found = await Promise.all(catalogue.drives.map((row) => inspect(row, problems)));
    const layout = layoutOf(catalogue, found);
    await drives.update(layout);
    for (const what of checkIndex(db)) problems.add('index', what);
    checkContents(db, problems);
    const pieces = new PieceCheck(db, layout, drives, problems);
    await pieces.run();
    const space = await checkSegments(catalogue, drives, pieces.live, problems);
    return {
      drives: catalogue.drives.map(({ number, uuid }, at) => ({ number, uuid, isThere: found[at] === true })),
      pieces: pieces.counts,
      marked: db.get<{ count: number }>('SELECT count(*) AS count FROM partitions')?.count ?? 0,
      ...space,
      problems: problems.list,
      problemCount: problems.count,
    };
  } finally {
    await drives.close();
    db.close();
  }
}

async function inspect(row: DriveRow, problems: Problems): Promise<boolean> {
  try {
    const identity = await readIdentity(row.folder);
    if (!identity) return false;
    if (identity.uuid === row.uuid && identity.number === row.number) return true;
    problems.add('drive', `${row.folder} is drive ${identity.number} (${identity.uuid}), not ${row.number}`);
  } catch (error) {
    problems.add('drive', `drive ${row.number}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return false;
}

function layoutOf(catalogue: DriveCatalogue, found: readonly boolean[]): Layout {
  const drives = catalogue.drives.map(({ number, uuid, folder, node, zone, capacity, policy }, at): LayoutDrive => {
    const state = found[at] ? 'normal' : 'absent';
    return { number, uuid, folder, node, zone, capacity, policy, state };
  });
  const rings = catalogue.rings.flatMap((row) => {
    const policy = catalogue.policies.find(({ index }) => index === row.policy);
    return policy ? [{ ...row, policy }] : [];
  });
  return { version: 1, drives, rings, defaultPolicy: null, encryption: { writeKey: 0, keys: [] } };
}

/** Segments as they are on the drives: none may be shorter than what lives in it. */
async function checkSegments(
  catalogue: DriveCatalogue,
  drives: OpenDrives,
  live: ReadonlyMap<number, ReadonlyMap<number, number>>,
  problems: Problems,
): Promise<{ segments: number; liveBytes: number; deadBytes: number }> {
  const total = { segments: 0, liveBytes: 0, deadBytes: 0 };
  for (const { number: drive } of catalogue.drives) {
    for (const { number, bytes } of (await drives.get(drive)?.segments()) ?? []) {
      const alive = live.get(drive)?.get(number) ?? 0;
      total.segments += 1;
      total.liveBytes += alive;
      total.deadBytes += Math.max(0, bytes - alive);
      if (alive > bytes) problems.add('segment', `segment ${drive}/${number} has ${bytes} bytes and ${alive} alive`);
    }
  }
  return total;
}
