import { flag, plain, Table, type Changes, type Db, type Tx } from '@granary/kernel';
import type { DestinationMirror, NewDestination, NewSource, SourceMirror } from './mirror.ts';

const sources = new Table<SourceMirror>('source_mirrors', {
  name: plain('name'),
  displayName: plain('display_name'),
  state: plain('state'),
  volume: plain('volume'),
  consistencyGroup: plain('cg_name'),
  groupDisplayName: plain('cg_display_name'),
  poolDisplayName: plain('pool_display_name'),
  remoteArray: plain('remote_array'),
  remoteUuid: plain('remote_uuid'),
  remoteDisplayName: plain('remote_display_name'),
  remoteProvider: plain('remote_provider'),
  remotePool: plain('remote_pool'),
  remoteVolume: plain('remote_volume'),
  rule: plain('rule'),
  rateLimitKb: plain('rate_limit_kb'),
  base: plain('base'),
  baseTakenAt: plain('base_taken_at'),
  round: plain('round'),
  position: plain('position'),
  sentBytes: plain('sent_bytes'),
  wireBytes: plain('wire_bytes'),
  syncMs: plain('sync_ms'),
  inheritsWwid: flag('inherit_wwid'),
  isPeerInformed: flag('is_peer_told'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});
const SOURCES = `SELECT ${sources.fields()} FROM source_mirrors`;

const destinations = new Table<DestinationMirror>('destination_mirrors', {
  name: plain('name'),
  peer: plain('peer'),
  sourceJob: plain('source_job'),
  displayName: plain('display_name'),
  state: plain('state'),
  volume: plain('volume'),
  volumeName: plain('volume_name'),
  poolDisplayName: plain('pool_display_name'),
  sourceProvider: plain('src_provider'),
  sourceArray: plain('src_array'),
  sourceGroup: plain('src_cg_name'),
  sourceGroupDisplayName: plain('src_cg'),
  sourcePoolDisplayName: plain('src_pool'),
  sourceWwid: plain('src_wwid'),
  isPaused: flag('is_paused'),
  base: plain('base'),
  baseTakenAt: plain('base_taken_at'),
  baseSnapshot: plain('base_snapshot'),
  round: plain('round'),
  roundName: plain('round_name'),
  roundTakenAt: plain('round_taken_at'),
  position: plain('position'),
  receivedBytes: plain('received_bytes'),
  syncMs: plain('sync_ms'),
  inheritsWwid: flag('inherit_wwid'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});
const DESTINATIONS = `SELECT ${destinations.fields()} FROM destination_mirrors`;

// Sources

export function insertSource(tx: Tx, mirror: NewSource): void {
  sources.insert(tx, {
    ...mirror,
    rule: null,
    rateLimitKb: 0,
    base: null,
    baseTakenAt: null,
    round: null,
    position: 0,
    sentBytes: 0,
    wireBytes: 0,
    syncMs: 0,
    inheritsWwid: false,
    isPeerInformed: false,
  });
}

export function updateSource(tx: Tx, name: string, change: Changes<Omit<SourceMirror, 'name'>>): void {
  sources.update(tx, { name }, change);
}

export function removeSource(tx: Tx, name: string): void {
  tx.run('DELETE FROM source_mirrors WHERE name = :name', { name });
}

export function findSource(db: Db, name: string): SourceMirror | undefined {
  return sources.get(db, `${SOURCES} WHERE name = :name`, { name });
}

export function isMirrorNameTaken(db: Db, displayName: string): boolean {
  const sql = `SELECT 1 FROM source_mirrors
    WHERE display_name = :displayName AND state IN ('creating', 'active', 'paused')`;
  return db.get(sql, { displayName }) !== undefined;
}

export function listSources(db: Db): SourceMirror[] {
  return sources.all(db, `${SOURCES} ORDER BY name`);
}

/** Of one volume, those that live. */
export function listSourcesOf(db: Db, volume: string): SourceMirror[] {
  return sources.all(db, `${SOURCES} WHERE volume = :volume AND state IN ('active', 'paused')`, { volume });
}

export function countSources(db: Db): number {
  const sql = `SELECT count(*) AS n FROM source_mirrors WHERE state IN ('creating', 'active', 'paused')`;
  return db.get<{ n: number }>(sql)?.n ?? 0;
}

export function isMirrorSource(db: Db, volume: string): boolean {
  const sql = `SELECT 1 FROM source_mirrors WHERE volume = :volume AND state IN ('creating', 'active', 'paused')`;
  return db.get(sql, { volume }) !== undefined;
}

export function countMirrorsTo(db: Db, remoteArray: string): number {
  const sql = `SELECT count(*) AS n FROM source_mirrors
    WHERE remote_array = :remoteArray AND state IN ('creating', 'active', 'paused')`;
  return db.get<{ n: number }>(sql, { remoteArray })?.n ?? 0;
}

/** A remote array is removed: messages that it has not received are dropped. */
export function dropPendingMessages(tx: Tx, remoteArray: string): void {
  tx.run(`DELETE FROM source_mirrors WHERE remote_array = :remoteArray AND state = 'abandoned'`, { remoteArray });
  tx.run('UPDATE source_mirrors SET is_peer_told = 1 WHERE remote_array = :remoteArray', { remoteArray });
}

// Destinations

export function insertDestination(tx: Tx, mirror: NewDestination): DestinationMirror {
  const destination: DestinationMirror = {
    ...mirror,
    volume: null,
    isPaused: false,
    base: null,
    baseTakenAt: null,
    baseSnapshot: null,
    round: null,
    roundName: null,
    roundTakenAt: null,
    position: 0,
    receivedBytes: 0,
    syncMs: 0,
    inheritsWwid: false,
  };
  destinations.insert(tx, destination);
  return destination;
}

export function updateDestination(tx: Tx, name: string, change: Changes<Omit<DestinationMirror, 'name'>>): void {
  destinations.update(tx, { name }, change);
}

export function removeDestination(tx: Tx, name: string): void {
  tx.run('DELETE FROM destination_mirrors WHERE name = :name', { name });
}

export function findDestination(db: Db, name: string): DestinationMirror | undefined {
  return destinations.get(db, `${DESTINATIONS} WHERE name = :name`, { name });
}

export function findDestinationOf(db: Db, peer: string, job: string): DestinationMirror | undefined {
  return destinations.get(db, `${DESTINATIONS} WHERE peer = :peer AND source_job = :job`, { peer, job });
}

export function listDestinations(db: Db): DestinationMirror[] {
  return destinations.all(db, `${DESTINATIONS} ORDER BY name`);
}

export function countDestinationsOf(db: Db, peer: string): number {
  const sql = `SELECT count(*) AS n FROM destination_mirrors WHERE peer = :peer AND state <> 'broken'`;
  return db.get<{ n: number }>(sql, { peer })?.n ?? 0;
}

/** Broken mirrors that both arrays know of. */
export function removeBrokenBefore(tx: Tx, time: number): void {
  const sql = `WHERE state = 'broken' AND modified_at < :time`;
  tx.run(`DELETE FROM source_mirrors ${sql} AND is_peer_told = 1`, { time });
  tx.run(`DELETE FROM destination_mirrors ${sql}`, { time });
}
