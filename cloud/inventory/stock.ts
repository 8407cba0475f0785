import { randomUUID } from 'node:crypto';
import { counted } from '@granary/contract';
import { bytes, GB, wholeGigabytes, type EventLog, type Store } from '@granary/kernel';
import { ConfigError } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { Drive, NewDrive } from './drive.ts';
import { deleteFreeDrive, insertDrive, listDrives } from './repository.ts';

interface StockChange {
  readonly add: readonly NewDrive[];
  readonly drop: readonly Drive[];
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
    const title = `The configuration added ${counted(add.length, 'drives')} and removed ${drop.length}.`;
    events.record(tx, { severity: 'notice', title, subject: 'cloud' });
  });
}

export function compareStock(drives: readonly Drive[], config: Config): StockChange {
  const groups = Map.groupBy(drives, groupOf);
  const add: NewDrive[] = [];
  const drop: Drive[] = [];
  const problems: string[] = [];
  for (const { count, ...kind } of configuredStock(config)) {
    const present = groups.get(groupOf(kind)) ?? [];
    groups.delete(groupOf(kind));
    for (let n = present.length; n < count; n += 1) add.push({ ...kind, uuid: randomUUID() });
    trim(present, count, kind, drop, problems);
  }
  // Nodes, types, zones or capacities the config no longer has.
  for (const present of groups.values()) trim(present, 0, present[0] as Drive, drop, problems);
  return { add, drop, problems };
}

type Kind = Omit<NewDrive, 'uuid'>;

function* configuredStock({ nodes, drive_types }: Config): Generator<Kind & { readonly count: number }> {
  for (const node of nodes) {
    for (const [type, count] of Object.entries(node.drives)) {
      const capacityGb = drive_types.find(({ key }) => key === type)?.capacity_gb ?? 0;
      yield { type, node: node.name, zone: node.zone, capacity: bytes(capacityGb * GB), count };
    }
  }
}

function trim(present: readonly Drive[], count: number, kind: Kind, drop: Drive[], problems: string[]): void {
  const surplus = present.length - count;
  if (surplus <= 0) return;
  const free = present.filter(({ array }) => array === null);
  if (free.length >= surplus) {
    drop.push(...free.slice(0, surplus));
    return;
  }
  const used = present.length - free.length;
  const { node, type, zone, capacity } = kind;
  problems.push(
    `nodes: ${used} drives of type ${type} (${wholeGigabytes(capacity)} GiB) of node ${node} in zone ${zone} are in use, ` +
      `but the file leaves ${count}; keep at least ${used}, or delete the arrays that have them first`,
  );
}

function groupOf({ type, node, zone, capacity }: Kind): string {
  return JSON.stringify([type, node, zone, capacity]);
}
