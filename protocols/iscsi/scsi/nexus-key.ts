/** One initiator port at one target port. Persistent reservations outlive sessions, so they name it by this. */
export interface NexusName {
  readonly initiatorName: string;
  /** Twelve hexadecimal digits. */
  readonly isid: string;
  readonly targetName: string;
}

export function nexusKey({ initiatorName, isid, targetName }: NexusName): string {
  return `${initiatorName},i,0x${isid},${targetName}`;
}
