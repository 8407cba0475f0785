import { FINAL, RESERVED_TAG } from '../pdu/opcodes.ts';

interface Transfer {
  readonly tag: number;
  readonly end: number;
  next: number;
  dataNumber: number;
}

export interface GatherLimits {
  readonly firstBurstBytes: number;
  readonly maxBurstBytes: number;
  readonly maxOutstandingR2t: number;
}

/** Collects the data of one write: what comes with the command, what follows unasked, and what was asked for. */
export class WriteGather {
  buffer: Buffer;
  /** How much the command can use; more is thrown away. */
  readonly wantedBytes: number;
  /** Bytes up to here are in place, for everything comes in order. */
  receivedBytes = 0;
  /** The receiver is filling the buffer at this moment. */
  receiving = false;
  abandoned = false;

  readonly #limits: GatherLimits;
  #unsolicitedOpen: boolean;
  #unsolicitedNumber = 0;
  #requestedBytes = 0;
  #requests = 0;
  readonly #transfers: Transfer[] = [];

  constructor(buffer: Buffer, wantedBytes: number, unsolicitedOpen: boolean, limits: GatherLimits) {
    this.buffer = buffer;
    this.wantedBytes = wantedBytes;
    this.#unsolicitedOpen = unsolicitedOpen;
    this.#limits = limits;
  }

  get isComplete(): boolean {
    return !this.#unsolicitedOpen && this.receivedBytes >= this.wantedBytes;
  }

  get isUnsolicitedOpen(): boolean {
    return this.#unsolicitedOpen;
  }

  /** The buffer holds only what may come unasked; asking for more needs `grow`. */
  get isStaged(): boolean {
    return this.buffer.length < this.wantedBytes;
  }

  /** R2Ts sent so far. */
  get requests(): number {
    return this.#requests;
  }

  grow(buffer: Buffer): Buffer {
    const staged = this.buffer;
    staged.copy(buffer, 0, 0, Math.min(staged.length, this.receivedBytes));
    this.buffer = buffer;
    return staged;
  }

  acceptImmediate(data: Buffer): void {
    this.#copyIn(data, 0);
    this.receivedBytes = data.length;
  }

  /** Whether a Data-Out is the one that must come next. */
  isExpected(header: Buffer, dataLength: number): boolean {
    const tag = header.readUInt32BE(20);
    const dataNumber = header.readUInt32BE(36);
    const offset = header.readUInt32BE(40);
    const final = ((header[1] ?? 0) & FINAL) !== 0;
    const end = offset + dataLength;
    if (tag === RESERVED_TAG) {
      const inOrder = offset === this.receivedBytes && dataNumber === this.#unsolicitedNumber;
      return this.#unsolicitedOpen && inOrder && end <= this.#limits.firstBurstBytes;
    }
    const transfer = this.#transfers[0];
    if (transfer?.tag !== tag || offset !== transfer.next || dataNumber !== transfer.dataNumber) return false;
    return final ? end === transfer.end : end < transfer.end;
  }

  /** Where the data of an expected Data-Out goes; `undefined` when it does not fit whole. */
  destination(header: Buffer, dataLength: number): Buffer | undefined {
    const offset = header.readUInt32BE(40);
    if (offset + dataLength > this.buffer.length) return undefined;
    this.receiving = true;
    return this.buffer.subarray(offset, offset + dataLength);
  }

  /** An expected Data-Out is here whole. */
  accept(header: Buffer, data: Buffer): void {
    const offset = header.readUInt32BE(40);
    if (!this.receiving) this.#copyIn(data, offset);
    this.receiving = false;
    this.#advance(header, offset + data.length);
  }

  /** The next range to ask for, or `undefined` when nothing more is to be asked now. */
  request(tag: number): { offset: number; length: number; number: number } | undefined {
    if (this.#unsolicitedOpen || this.#transfers.length >= this.#limits.maxOutstandingR2t) return undefined;
    const offset = Math.max(this.#requestedBytes, this.receivedBytes);
    if (offset >= this.wantedBytes) return undefined;
    const length = Math.min(this.#limits.maxBurstBytes, this.wantedBytes - offset);
    this.#requestedBytes = offset + length;
    this.#transfers.push({ tag, end: offset + length, next: offset, dataNumber: 0 });
    return { offset, length, number: this.#requests++ };
  }

  #advance(header: Buffer, end: number): void {
    const final = ((header[1] ?? 0) & FINAL) !== 0;
    this.receivedBytes = end;
    if (header.readUInt32BE(20) === RESERVED_TAG) {
      this.#unsolicitedNumber++;
      if (final) this.#unsolicitedOpen = false;
      return;
    }
    const transfer = this.#transfers[0];
    if (transfer === undefined) return;
    transfer.next = end;
    transfer.dataNumber++;
    if (final) this.#transfers.shift();
  }

  #copyIn(data: Buffer, offset: number): void {
    if (offset >= this.buffer.length) return;
    // In halves: a copy of all of a buffer into shared memory takes the engine four times as long.
    const half = data.length >> 1;
    data.copy(this.buffer, offset, 0, half);
    data.copy(this.buffer, offset + half, half);
  }
}
