import { randomUUID } from 'node:crypto';
import type { EventLog, Store } from '@granary/kernel';
import { ConfigError } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { deleteFreeDrive, insertDrive, listDrives, type DriveRow, type NewDrive } from './repository.ts';

interface StockChange {
  readonly add: readonly NewDrive[];
  readonly drop: readonly DriveRow[];
  /** Why the config cannot be followed: it forgets drives that arrays have. */
  readonly problems: readonly string[];
}

/** Makes the drives those of the config: adds what is new, drops what is gone and free, refuses to forget the rest. */
export async function followConfig(store: Store, events: EventLog, config: Config, file: string): Promise<void> {
  await store.write((tx) => {
    const { add, drop, problems } = compareStock(listDrives(tx), config);
    if (problems.length > 0) throw new ConfigError(file, problems);
    for (const drive of add) insertDrive(tx, drive);
    for (const drive of drop) deleteFreeDrive(tx, drive.uuid);
    if (add.length + drop.length === 0) return;
    const title = `The configuration added ${add.length} drives and removed ${drop.length}.`;
    events.record(tx, { severity: 'notice', title, subject: 'cloud' });
  });
}

export function compareStock(drives: readonly DriveRow[], config: Config): StockChange {
  const groups = Map.groupBy(drives, groupOf);
  const add: NewDrive[] = [];
  const drop: DriveRow[] = [];
  const problems: string[] = [];
  for (const { count, ...kind } of configuredStock(config)) {
    const present = groups.get(groupOf(kind)) ?? [];
    groups.delete(groupOf(kind));
    for (let n = present.length; n < count; n += 1) add.push({ ...kind, uuid: randomUUID() });
    trim(present, count, kind, drop, problems);
  }
  // Nodes, types, zones or capacities the config no longer has.
  for (const present of groups.values()) trim(present, 0, present[0] as DriveRow, drop, problems);
  return { add, drop, problems };
}

type Kind = Omit<NewDrive, 'uuid'>;

function* configuredStock({ nodes, drive_types }: Config): Generator<Kind & { readonly count: number }> {
  for (const node of nodes) {
    for (const [type, count] of Object.entries(node.drives)) {
      const capacity_gb = drive_types.find(({ key }) => key === type)?.capacity_gb ?? 0;
      yield { type, node: node.name, zone: node.zone, capacity_gb, count };
    }
  }
}

function trim(present: readonly DriveRow[], count: number, kind: Kind, drop: DriveRow[], problems: string[]): void {
  const surplus = present.length - count;
  if (surplus <= 0) return;
  const free = present.filter(({ array }) => array === null);
  if (free.length >= surplus) {
    drop.push(...free.slice(0, surplus));
    return;
  }
  const used = present.length - free.length;
  const { node, type, zone, capacity_gb } = kind;
  problems.push(
    `nodes: ${used} drives of type ${type} (${capacity_gb} GB) of node ${node} in zone ${zone} are in use, ` +
      `but the file leaves ${count}; keep at least ${used}, or delete the arrays that have them first`,
  );
}

function groupOf({ type, node, zone, capacity_gb }: Kind): string {
  return JSON.stringify([type, node, zone, capacity_gb]);
}
