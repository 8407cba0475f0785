/** A drive as the ring sees it. */
export interface RingDrive {
  readonly number: number;
  readonly node: string;
  readonly zone: string;
  readonly capacity: number;
}

/** What may stand together: how many slots of one partition a node and a zone take, and each drive's fair share. */
export interface Domains {
  readonly drives: readonly RingDrive[];
  /** Slots that each drive should have: in proportion to capacity as far as the limits allow. */
  readonly targets: readonly number[];
  /** Whether a partition on the drives `present` may have one more on `at`, with `without` given up. */
  mayTake(present: readonly number[], at: number, without: number): boolean;
  /** Which of `present` stand closer to each other than they have to. */
  crowded(present: readonly number[]): number[];
}

interface Group {
  readonly members: number[];
  most: number;
}

/**
 * Slots of a partition never share a drive; they share a node only as far as there are fewer nodes than slots, and a
 * zone only as far as there are fewer zones. The limits are the smallest that still let every slot have a drive.
 */
export function domainsOf(drives: readonly RingDrive[], slots: number, partitions: number): Domains {
  const wanted = Math.min(slots, drives.length);
  const nodes = groupsBy(drives, nodeOf);
  const zones = groupsBy(drives, (drive) => drive.zone);
  const nodeLimit = smallestLimit(
    [...nodes.values()].map((node) => node.members.length),
    wanted,
  );
  for (const node of nodes.values()) node.most = Math.min(nodeLimit, node.members.length);
  const holds = (zone: Group): number =>
    new Set(zone.members.map((at) => nodes.get(nodeOf(at0(drives, at)))))
      .values()
      .reduce((sum, node) => sum + (node?.most ?? 0), 0);
  const zoneLimit = smallestLimit([...zones.values()].map(holds), wanted);
  for (const zone of zones.values()) zone.most = Math.min(zoneLimit, holds(zone));
  const nodeAt = drives.map(nodeOf);
  const zoneAt = drives.map((drive) => drive.zone);

  return {
    drives,
    targets: shares(drives, nodes, zones, wanted, partitions),
    mayTake: (present, at, without) => {
      let inNode = 0;
      let inZone = 0;
      for (const other of present) {
        if (other === at) return false;
        if (other === without) continue;
        if (nodeAt[other] === nodeAt[at]) inNode += 1;
        if (zoneAt[other] === zoneAt[at]) inZone += 1;
      }
      return inNode < nodeLimit && inZone < zoneLimit;
    },
    crowded: (present) =>
      present.filter(
        (at) =>
          present.filter((other) => nodeAt[other] === nodeAt[at]).length > nodeLimit ||
          present.filter((other) => zoneAt[other] === zoneAt[at]).length > zoneLimit,
      ),
  };
}

/** Nodes of different zones are different nodes, whatever they are called. */
function nodeOf(drive: RingDrive): string {
  return JSON.stringify([drive.zone, drive.node]);
}

function at0(drives: readonly RingDrive[], at: number): RingDrive {
  const drive = drives[at];
  if (!drive) throw new RangeError(`no drive at ${at}`);
  return drive;
}

function groupsBy(drives: readonly RingDrive[], nameOf: (drive: RingDrive) => string): Map<string, Group> {
  const groups = new Map<string, Group>();
  drives.forEach((drive, at) => {
    const name = nameOf(drive);
    const group = groups.get(name);
    if (group) group.members.push(at);
    else groups.set(name, { members: [at], most: 0 });
  });
  return groups;
}

function smallestLimit(holds: readonly number[], wanted: number): number {
  let limit = 1;
  while (holds.reduce((sum, most) => sum + Math.min(limit, most), 0) < wanted) limit += 1;
  return limit;
}

/** Water into connected vessels: zones of limited size, in them nodes, in them drives; all as wide as their capacity. */
function shares(
  drives: readonly RingDrive[],
  nodes: ReadonlyMap<string, Group>,
  zones: ReadonlyMap<string, Group>,
  wanted: number,
  partitions: number,
): number[] {
  const targets = drives.map(() => 0);
  const vessel = (at: number): Vessel => ({
    at,
    most: partitions,
    atLevel: (level) => Math.min(partitions, level * at0(drives, at).capacity),
    parts: [],
  });
  const enclosing = (most: number, parts: readonly Vessel[]): Vessel => ({
    at: -1,
    most,
    atLevel: (level) =>
      Math.min(
        most,
        parts.reduce((sum, part) => sum + part.atLevel(level), 0),
      ),
    parts,
  });
  const zoneVessels = [...zones.values()].map((zone) => {
    const names = new Set(zone.members.map((at) => nodeOf(at0(drives, at))));
    const inside = [...names].map((name) => {
      const node = nodes.get(name);
      return enclosing((node?.most ?? 0) * partitions, (node?.members ?? []).map(vessel));
    });
    return enclosing(zone.most * partitions, inside);
  });
  pour(enclosing(wanted * partitions, zoneVessels), wanted * partitions, targets);
  // What is left of rounding must not look like a share of a slot.
  return targets.map((target) => Math.round(target * 1e6) / 1e6);
}

interface Vessel {
  /** Position of the drive; -1 for a vessel of vessels. */
  readonly at: number;
  readonly most: number;
  readonly atLevel: (level: number) => number;
  readonly parts: readonly Vessel[];
}

function pour(vessel: Vessel, amount: number, targets: number[]): void {
  if (vessel.at >= 0) {
    targets[vessel.at] = amount;
    return;
  }
  const held = (level: number) => vessel.parts.reduce((sum, part) => sum + part.atLevel(level), 0);
  let high = 1e-12;
  while (held(high) < amount && high < 1e12) high *= 2;
  let low = 0;
  for (let round = 0; round < 100; round += 1) {
    const middle = (low + high) / 2;
    if (held(middle) < amount) low = middle;
    else high = middle;
  }
  for (const part of vessel.parts) pour(part, part.atLevel(high), targets);
}
