import type { CheckedConfiguration, EngineCheck } from '../engine/check.ts';
import { kindOf } from '../engine/start.ts';
import { readRecords, type ArrayRecords } from './records.ts';

export interface ArrayCheck {
  /** What must hold and does not, in words. */
  readonly problems: readonly string[];
  readonly groups: number;
  readonly pools: number;
  readonly volumes: number;
  readonly snapshots: number;
  /** Work that goes on at the next start. */
  readonly unfinishedJobs: number;
}

/** Proves of a stopped array that its bytes are sound and that its records and its bytes agree. Changes nothing. */
export async function checkArray(configuration: CheckedConfiguration): Promise<ArrayCheck> {
  const records = readRecords(configuration.folder);
  const shares = new Set(records.shares.map(({ name }) => name));
  const kind = kindOf(configuration);
  if (!kind.check) throw new Error(`What the ${configuration.storageEngine} engine keeps cannot be checked from here.`);
  const engine = await kind.check(configuration, (volume) => shares.has(volume));
  return {
    problems: [
      ...engine.findings,
      ...compareGroups(records, engine),
      ...comparePools(records, engine),
      ...compareVolumes(records, engine),
      ...compareSnapshots(records, engine),
    ],
    groups: records.groups.length,
    pools: records.pools.length,
    volumes: records.volumes.length,
    snapshots: records.snapshots.length,
    unfinishedJobs: records.unfinishedJobs.length,
  };
}

/** By name: what both sides say of it; a side that does not know it says nothing. */
function* pairs<R, E>(
  records: readonly R[],
  nameOf: (record: R) => string,
  found: ReadonlyMap<string, E>,
): Generator<readonly [name: string, record: R | undefined, found: E | undefined]> {
  const onRecord = new Map(records.map((record) => [nameOf(record), record]));
  for (const name of new Set([...onRecord.keys(), ...found.keys()])) yield [name, onRecord.get(name), found.get(name)];
}

function compareGroups({ groups, drives }: ArrayRecords, engine: EngineCheck): string[] {
  const found = new Map(engine.groups.map((group) => [group.id, group]));
  return [...pairs(groups, ({ name }) => name, found)].flatMap(([name, record, group]) => {
    if (!record || !group) return missing(`RAID group ${name}`, record, record?.state);
    const members = drives.filter((drive) => drive.raid_group === name && drive.role === 'member');
    return differing(`RAID group ${name}`, {
      drives: [members.map(({ uuid }) => uuid).toSorted(), [...group.members].toSorted()],
    });
  });
}

function comparePools({ pools, groups }: ArrayRecords, engine: EngineCheck): string[] {
  const found = new Map(engine.pools.map((pool) => [pool.id, pool]));
  return [...pairs(pools, ({ name }) => name, found)].flatMap(([name, record, pool]) => {
    if (!record || !pool) return missing(`Pool ${name}`, record, record?.state);
    const own = groups.filter((group) => group.pool === name).map((group) => group.name);
    return differing(`Pool ${name}`, {
      capacity: [record.capacity_bytes, pool.capacityBytes],
      'RAID groups': [own.toSorted(), [...pool.groups].toSorted()],
    });
  });
}

function compareVolumes({ volumes }: ArrayRecords, engine: EngineCheck): string[] {
  const found = new Map(
    engine.pools.flatMap((pool) => pool.volumes.map((volume) => [volume.id, { ...volume, pool: pool.id }] as const)),
  );
  return [...pairs(volumes, ({ name }) => name, found)].flatMap(([name, record, volume]) => {
    if (!record || !volume) return missing(`Volume ${name}`, record, record?.state);
    return differing(`Volume ${name}`, {
      size: [record.size_bytes, volume.sizeBytes],
      pool: [record.pool, volume.pool],
    });
  });
}

function compareSnapshots({ snapshots }: ArrayRecords, engine: EngineCheck): string[] {
  const found = new Map(
    engine.pools.flatMap((pool) =>
      pool.volumes.flatMap((volume) =>
        volume.snapshots.map((snapshot) => [snapshot.id, { ...snapshot, volume: volume.id }] as const),
      ),
    ),
  );
  return [...pairs(snapshots, ({ name }) => name, found)].flatMap(([name, record, snapshot]) => {
    if (!record || !snapshot) return missing(`Snapshot ${name}`, record, record?.state);
    return differing(`Snapshot ${name}`, {
      size: [record.size_bytes, snapshot.sizeBytes],
      volume: [record.volume, snapshot.volume],
    });
  });
}

/** What is just being made or deleted may be on one side alone: the next start ends that. */
function missing(what: string, record: object | undefined, state: string | undefined): string[] {
  if (state === 'creating' || state === 'deleting') return [];
  return record ? [`${what} is on record, but its bytes are not there.`] : [`${what} is there, but not on record.`];
}

function differing(
  what: string,
  facts: Readonly<Record<string, readonly [record: unknown, found: unknown]>>,
): string[] {
  return Object.entries(facts)
    .filter(([, [record, found]]) => JSON.stringify(record) !== JSON.stringify(found))
    .map(([fact, [record, found]]) => `${what}: its ${fact} is ${text(record)} on record and ${text(found)} on disk.`);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
