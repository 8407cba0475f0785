import { randomInt } from 'node:crypto';
import type { Reads, Transaction } from '@granary/kernel/sqlite';
import type { PolicyLayout } from '../records.ts';

/**
 * `waiting` for its turn to join; `joined`; `leaving`: to be evacuated; `left`: nothing on it any more; `lost`: was away
 * for so long that others took over its slots.
 */
export type DriveStage = 'waiting' | 'joined' | 'leaving' | 'left' | 'lost';

export interface DriveRow {
  readonly number: number;
  readonly uuid: string;
  readonly folder: string;
  readonly node: string;
  readonly zone: string;
  readonly capacity: number;
  readonly policy: number;
  readonly stage: DriveStage;
  /** How many drives were waiting when it came: a step of an expansion is a share of them. */
  readonly batch: number;
}

export interface RingRow {
  readonly policy: number;
  readonly version: number;
  readonly partitions: number;
  readonly slots: number;
  readonly drives: Uint32Array;
  readonly rebalancedAt: number | null;
}

export interface DriveCatalogue {
  readonly policies: readonly PolicyLayout[];
  readonly drives: readonly DriveRow[];
  readonly rings: readonly RingRow[];
}

type CounterName = 'next-policy' | 'next-drive' | 'next-mark' | 'scrub-cursor' | 'scrubbed-at' | 'index' | 'stamp';

/** Far above the marks that writes make, so that no two are ever equal. */
const FIRST_MARK = 2 ** 48;
const INDEX_NUMBERS = 2 ** 47;

/** A random number that identifies this index. */
export function numberIndex(db: Transaction): void {
  if (counter(db, 'index') === 0) setCounter(db, 'index', randomInt(1, INDEX_NUMBERS));
}

export function readCatalogue(db: Reads): DriveCatalogue {
  const policies = db.all<PolicyLayout>(
    `SELECT number AS "index", name, copies, data_fragments AS dataFragments, parity_fragments AS parityFragments
     FROM policies ORDER BY number`,
  );
  const drives = db.all<DriveRow>('SELECT * FROM drives ORDER BY number');
  const rings = db
    .all<{
      policy: number;
      version: number;
      partitions: number;
      slots: number;
      drives: Uint8Array;
      rebalanced_at: number | null;
    }>('SELECT * FROM rings ORDER BY policy')
    .map(({ rebalanced_at: rebalancedAt, drives: bytes, ...ring }) => ({
      ...ring,
      drives: new Uint32Array(Uint8Array.from(bytes).buffer),
      rebalancedAt,
    }));
  return { policies: policies.map((row) => ({ ...row })), drives: drives.map((row) => ({ ...row })), rings };
}

export function savePolicy(db: Transaction, policy: PolicyLayout): void {
  db.run(
    'INSERT INTO policies VALUES (?, ?, ?, ?, ?)',
    policy.index,
    policy.name,
    policy.copies,
    policy.dataFragments,
    policy.parityFragments,
  );
}

export function saveDrive(db: Transaction, row: DriveRow): void {
  db.run(
    `INSERT INTO drives (number, uuid, folder, node, zone, capacity, policy, stage, batch)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (number) DO UPDATE SET uuid = excluded.uuid, folder = excluded.folder,
     node = excluded.node, zone = excluded.zone, capacity = excluded.capacity, policy = excluded.policy,
     stage = excluded.stage, batch = excluded.batch`,
    row.number,
    row.uuid,
    row.folder,
    row.node,
    row.zone,
    row.capacity,
    row.policy,
    row.stage,
    row.batch,
  );
}

/** Its segment numbers stay known: a place may name them for long. */
export function dropDrive(db: Transaction, number: number): void {
  db.run('DELETE FROM drives WHERE number = ?', number);
}

export function saveRing(db: Transaction, ring: RingRow): void {
  db.run(
    'INSERT OR REPLACE INTO rings VALUES (?, ?, ?, ?, ?, ?)',
    ring.policy,
    ring.version,
    ring.partitions,
    ring.slots,
    new Uint8Array(ring.drives.buffer, ring.drives.byteOffset, ring.drives.byteLength),
    ring.rebalancedAt,
  );
}

/** Says that pieces of a partition may not be where the ring wants them. */
export function markPartition(db: Transaction, partition: number): void {
  const mark = Math.max(counter(db, 'next-mark'), FIRST_MARK);
  setCounter(db, 'next-mark', mark + 1);
  db.run('INSERT INTO partitions VALUES (?1, ?2) ON CONFLICT DO UPDATE SET marked = ?2', partition, mark);
}

/** Not when it was marked again since `marked` was read. */
export function clearPartition(db: Transaction, partition: number, marked: number): boolean {
  if (db.run('DELETE FROM partitions WHERE partition = ? AND marked = ?', partition, marked).changes === 0)
    return false;
  db.run('DELETE FROM doubts WHERE partition = ?', partition);
  return true;
}

/** Repair has to read every piece of this one. */
export function doubtPartition(db: Transaction, partition: number): void {
  db.run('INSERT OR IGNORE INTO doubts VALUES (?)', partition);
  markPartition(db, partition);
}

export function readMarks(db: Reads): { partition: number; marked: number; doubted: number }[] {
  return db.all(
    `SELECT p.partition, p.marked, d.partition IS NOT NULL AS doubted
     FROM partitions p LEFT JOIN doubts d ON d.partition = p.partition WHERE p.marked > 0`,
  );
}

export function counter(db: Reads, name: CounterName): number {
  return db.get<{ value: number }>('SELECT value FROM keeper WHERE name = ?', name)?.value ?? 0;
}

export function setCounter(db: Transaction, name: CounterName, value: number): void {
  db.run('INSERT OR REPLACE INTO keeper VALUES (?, ?)', name, value);
}

/** Numbers never used before, and never given again. */
export function allocateDriveNumber(db: Transaction): number {
  const number = Math.max(counter(db, 'next-drive'), 1);
  setCounter(db, 'next-drive', number + 1);
  return number;
}

export function allocatePolicyNumber(db: Transaction): number {
  const number = counter(db, 'next-policy');
  setCounter(db, 'next-policy', number + 1);
  return number;
}

/** The first of `count` segment numbers. */
export function allocateSegmentNumbers(db: Transaction, drive: number, count: number): number {
  const first = nextSegmentNumber(db, drive);
  raiseSegmentNumber(db, drive, first + count);
  return first;
}

/** Of the segments that will be made on a drive, the lowest number. */
export function nextSegmentNumber(db: Reads, drive: number): number {
  return db.get<{ next: number }>('SELECT next FROM segment_numbers WHERE drive = ?', drive)?.next ?? 1;
}

export function raiseSegmentNumber(db: Transaction, drive: number, next: number): void {
  db.run('INSERT OR REPLACE INTO segment_numbers VALUES (?, ?)', drive, next);
}

/** Whether a drive has not left. */
export function isIn(db: Reads, drive: number): boolean {
  const row = db.get<{ stage: DriveStage }>('SELECT stage FROM drives WHERE number = ?', drive);
  return row !== undefined && row.stage !== 'left';
}

/** Bytes that live on a drive. */
export function liveOn(db: Reads, drive: number): number {
  return db.get<{ live: number | null }>('SELECT sum(live) AS live FROM segments WHERE drive = ?', drive)?.live ?? 0;
}

export function liveIn(db: Reads, drive: number, segment: number): number {
  const row = db.get<{ live: number }>('SELECT live FROM segments WHERE drive = ? AND segment = ?', drive, segment);
  return row?.live ?? 0;
}

/** Live bytes by segment; those without any are not among them. */
export function liveSegments(db: Reads, drive: number): Map<number, number> {
  const rows = db.iterate<{ segment: number; live: number }>(
    'SELECT segment, live FROM segments WHERE drive = ? AND live > 0',
    drive,
  );
  const live = new Map<number, number>();
  for (const { segment, live: bytes } of rows) live.set(segment, bytes);
  return live;
}
