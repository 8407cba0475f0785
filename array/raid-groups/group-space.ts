/** How much a pool uses of one of its RAID groups. */
export interface GroupShare {
  readonly group: string;
  readonly bytes: number;
}

/** What of a group's record says how much it holds, and how much a pool uses of it. */
export interface GroupSpace {
  readonly name: string;
  readonly capacityBytes: number;
  readonly poolBytes: number;
}

/** What no pool uses of a RAID group yet, in whole pieces of what the engine gives out. */
export function freeBytesIn({ capacityBytes, poolBytes }: GroupSpace, allocationBytes: number): number {
  return Math.floor(capacityBytes / allocationBytes) * allocationBytes - poolBytes;
}
