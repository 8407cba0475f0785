import type { LogicalUnit } from './logical-unit.ts';
import { nexusKey, type NexusName } from './nexus-key.ts';
import { Attention, type SenseData } from './sense.ts';

/** The tie between one initiator port and one target port: what SCSI knows of a session. */
export interface Nexus extends NexusName {
  /** LUNs this initiator sees, in order. */
  lunNumbers(): number[];
  /** Ends what the initiator has under way on a unit; resolves when the device is done with it. */
  abortTasks(unit: LogicalUnit, notifyInitiator: boolean): Promise<void>;
}

const ATTENTIONS_MAX = 8;

/** One unit as one initiator sees it. */
export class Attachment {
  readonly unit: LogicalUnit;
  readonly nexus: Nexus;
  readonly key: string;
  readOnly: boolean;
  /** Reported to the initiator one by one, each in place of a command's result. */
  readonly attentions: SenseData[] = [Attention.powerOn];

  constructor(unit: LogicalUnit, nexus: Nexus, readOnly: boolean) {
    this.unit = unit;
    this.nexus = nexus;
    this.key = nexusKey(nexus);
    this.readOnly = readOnly;
  }

  raise(attention: SenseData): void {
    if (this.attentions.includes(attention)) return;
    if (this.attentions.length < ATTENTIONS_MAX) this.attentions.push(attention);
  }

  clear(attention: SenseData): void {
    const at = this.attentions.indexOf(attention);
    if (at >= 0) this.attentions.splice(at, 1);
  }
}
