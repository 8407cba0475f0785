import type { Operation, ScsiCommand } from '../scsi/command.ts';
import type { LogicalUnit } from '../scsi/logical-unit.ts';
import type { Attachment, Nexus } from '../scsi/nexus.ts';
import type { Outcome } from '../scsi/outcome.ts';
import type { WriteGather } from './write-gather.ts';

const EMPTY = Buffer.alloc(0);
const ATTRIBUTE_MASK = 0x07;
const ATTRIBUTE_ORDERED = 2;
const READS = 0x40;
const WRITES = 0x20;

/** What is to become of a command that was ended before its time. */
export type Abort = 'unanswered' | 'answered';

export interface TaskOwner {
  readonly nexus: Nexus;
  allocateIn(bytes: number): Buffer;
}

/** One SCSI command of one session, from its arrival to its answer. */
export class IscsiTask implements ScsiCommand {
  readonly #owner: TaskOwner;
  readonly arrivedMs = performance.now();
  readonly tag: number;
  readonly cdb: Buffer;
  readonly immediate: boolean;
  readonly reads: boolean;
  readonly writes: boolean;
  readonly ordered: boolean;
  /** What the initiator expects to move. */
  readonly expectedBytes: number;
  readonly target: Attachment | undefined;
  operation: Operation | undefined;
  /** Set when the outcome is known before the command has run. */
  verdict: Outcome | undefined;
  /** What the command calls for from the initiator, by its CDB. */
  neededBytes = 0;
  data: Buffer = EMPTY;
  dataIn: Buffer | undefined;
  gather: WriteGather | undefined;
  /** The initiator can refer to it: it was not done at once. */
  registered = false;
  running = false;
  abort: Abort | undefined;
  readonly whenEnded: (() => void)[] = [];

  constructor(owner: TaskOwner, header: Buffer, target: Attachment | undefined) {
    const flags = header[1] ?? 0;
    this.#owner = owner;
    this.tag = header.readUInt32BE(16);
    this.cdb = Buffer.allocUnsafe(16);
    header.copy(this.cdb, 0, 32, 48);
    this.immediate = ((header[0] ?? 0) & 0x40) !== 0;
    this.reads = (flags & READS) !== 0;
    this.writes = (flags & WRITES) !== 0;
    this.ordered = (flags & ATTRIBUTE_MASK) === ATTRIBUTE_ORDERED;
    this.expectedBytes = header.readUInt32BE(20);
    this.target = target;
  }

  get announcedBytes(): number {
    return this.writes ? this.expectedBytes : 0;
  }

  get attachment(): Attachment {
    if (this.target === undefined) throw new Error('a command without a unit has no attachment');
    return this.target;
  }

  get unit(): LogicalUnit {
    return this.attachment.unit;
  }

  get nexus(): Nexus {
    return this.#owner.nexus;
  }

  allocate(bytes: number): Buffer {
    return (this.dataIn = this.#owner.allocateIn(bytes));
  }
}
