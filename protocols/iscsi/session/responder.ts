import type { SessionParameters } from '../login/parameters.ts';
import type { FrameFormat } from '../pdu/frame.ts';
import { FINAL, HEADER_BYTES, RESERVED_TAG, TargetOpcode } from '../pdu/opcodes.ts';
import { Status, type Outcome } from '../scsi/outcome.ts';
import { encodeSense } from '../scsi/sense.ts';
import type { CommandWindow } from './command-window.ts';
import type { Output } from './output.ts';
import type { IscsiTask } from './task.ts';

const OVERFLOW = 0x04;
const UNDERFLOW = 0x02;
const WITH_STATUS = 0x01;

/** Up to this size data is copied beside its header: that is cheaper than one more piece for the system call. */
const COPY_BYTES_MAX = 16 * 1024;

interface Residual {
  readonly flag: number;
  readonly count: number;
}

const NO_RESIDUAL: Residual = { flag: 0, count: 0 };

/** Writes everything a target sends in full-feature phase, and numbers it. */
export class Responder {
  readonly #output: Output;
  readonly #format: FrameFormat;
  readonly #window: CommandWindow;
  readonly #parameters: SessionParameters;
  #statusNumber: number;

  constructor(
    output: Output,
    format: FrameFormat,
    window: CommandWindow,
    parameters: SessionParameters,
    statusNumber: number,
  ) {
    this.#output = output;
    this.#format = format;
    this.#window = window;
    this.#parameters = parameters;
    this.#statusNumber = statusNumber;
  }

  /** The answer to a SCSI command. `release` is called when its data is on its way. */
  answer(task: IscsiTask, outcome: Outcome, release?: () => void): void {
    const { data } = outcome;
    if (data === undefined || data.length === 0 || !task.reads || task.expectedBytes === 0) {
      release?.();
      this.#scsiResponse(task, outcome, this.#residual(task, outcome));
      return;
    }
    const sent = data.length > task.expectedBytes ? data.subarray(0, task.expectedBytes) : data;
    this.#dataIn(task, sent, residualOf(task.expectedBytes, data.length), release);
  }

  #residual(task: IscsiTask, outcome: Outcome): Residual {
    if (outcome.status !== Status.good) {
      return residualOf(task.expectedBytes, Math.min(task.expectedBytes, task.gather?.receivedBytes ?? 0));
    }
    return residualOf(task.expectedBytes, outcome.data?.length ?? task.neededBytes);
  }

  #dataIn(task: IscsiTask, data: Buffer, residual: Residual, release: (() => void) | undefined): void {
    const { initiatorDataSegmentBytes, maxBurstBytes } = this.#parameters;
    const total = data.length;
    // All of it in one way: what is sent from where it lies must not be released with a last piece that was copied.
    const copied = total <= COPY_BYTES_MAX;
    let burstEnd = Math.min(total, maxBurstBytes);
    for (let offset = 0, number = 0; offset < total; number++) {
      const end = Math.min(burstEnd, offset + initiatorDataSegmentBytes);
      const last = end === total;
      const flags = (end === burstEnd ? FINAL : 0) | (last ? WITH_STATUS | residual.flag : 0);
      const piece = offset === 0 && last ? data : data.subarray(offset, end);
      const at = this.#dataInHeader(task.tag, flags, piece.length, copied, last ? residual.count : 0);
      this.#output.page.writeUInt32BE(number, at + 36);
      this.#output.page.writeUInt32BE(offset, at + 40);
      this.#sendData(at, piece, copied, last ? release : undefined);
      offset = end;
      if (end === burstEnd) burstEnd = Math.min(total, burstEnd + maxBurstBytes);
    }
  }

  #dataInHeader(tag: number, flags: number, length: number, withRoom: boolean, residualCount: number): number {
    const at = this.#begin(TargetOpcode.dataIn, flags, withRoom ? length : undefined);
    const { page } = this.#output;
    page.writeUInt32BE(tag, at + 16);
    page.writeUInt32BE(RESERVED_TAG, at + 20);
    if ((flags & WITH_STATUS) !== 0) page.writeUInt32BE(this.#nextStatusNumber(), at + 24);
    page.writeUInt32BE(residualCount, at + 44);
    return at;
  }

  #sendData(at: number, data: Buffer, copied: boolean, release: (() => void) | undefined): void {
    const { page } = this.#output;
    if (copied) {
      data.copy(page, at + this.#format.dataOffset);
      this.#format.seal(page, at, data.length);
      release?.();
      return;
    }
    this.#format.sealHeader(page, at, data.length);
    const trailer = this.#format.trailer(data);
    this.#output.append(data, release);
    if (trailer !== undefined) this.#output.append(trailer);
  }

  #scsiResponse(task: IscsiTask, outcome: Outcome, residual: Residual): void {
    const sense = outcome.sense === undefined ? undefined : this.#senseSegment(task, outcome);
    const at = this.#begin(TargetOpcode.scsiResponse, FINAL | residual.flag, sense?.length ?? 0);
    const { page } = this.#output;
    page[at + 3] = outcome.status;
    page.writeUInt32BE(task.tag, at + 16);
    page.writeUInt32BE(this.#nextStatusNumber(), at + 24);
    page.writeUInt32BE(task.gather?.requests ?? 0, at + 36);
    page.writeUInt32BE(residual.count, at + 44);
    sense?.copy(page, at + this.#format.dataOffset);
    this.#format.seal(page, at, sense?.length ?? 0);
  }

  #senseSegment(task: IscsiTask, outcome: Outcome): Buffer | undefined {
    if (outcome.sense === undefined) return undefined;
    const sense = encodeSense(outcome.sense, task.target?.unit.descriptorSense);
    const segment = Buffer.alloc(2 + sense.length);
    segment.writeUInt16BE(sense.length);
    sense.copy(segment, 2);
    return segment;
  }

  readyToTransfer(tag: number, transferTag: number, request: { offset: number; length: number; number: number }): void {
    const at = this.#begin(TargetOpcode.readyToTransfer, FINAL, 0);
    const { page } = this.#output;
    page.writeUInt32BE(tag, at + 16);
    page.writeUInt32BE(transferTag, at + 20);
    page.writeUInt32BE(this.#statusNumber, at + 24);
    page.writeUInt32BE(request.number, at + 36);
    page.writeUInt32BE(request.offset, at + 40);
    page.writeUInt32BE(request.length, at + 44);
    this.#format.seal(page, at, 0);
  }

  taskManagementResponse(tag: number, response: number): void {
    const at = this.#begin(TargetOpcode.taskManagementResponse, FINAL, 0);
    this.#output.page[at + 2] = response;
    this.#finish(at, tag, undefined);
  }

  /** The answer to a ping, with the data of the ping. */
  nopIn(tag: number, data: Buffer): void {
    const shown = data.subarray(0, this.#parameters.initiatorDataSegmentBytes);
    const at = this.#begin(TargetOpcode.nopIn, FINAL, shown.length);
    this.#output.page.writeUInt32BE(RESERVED_TAG, at + 20);
    this.#finish(at, tag, shown);
  }

  /** A ping of our own. It takes no status number. */
  ping(transferTag: number): void {
    const at = this.#begin(TargetOpcode.nopIn, FINAL, 0);
    const { page } = this.#output;
    page.writeUInt32BE(RESERVED_TAG, at + 16);
    page.writeUInt32BE(transferTag, at + 20);
    page.writeUInt32BE(this.#statusNumber, at + 24);
    this.#format.seal(page, at, 0);
  }

  textResponse(tag: number, flags: number, transferTag: number, text: Buffer): void {
    const at = this.#begin(TargetOpcode.textResponse, flags, text.length);
    this.#output.page.writeUInt32BE(transferTag, at + 20);
    this.#finish(at, tag, text);
  }

  logoutResponse(tag: number, response: number): void {
    const at = this.#begin(TargetOpcode.logoutResponse, FINAL, 0);
    this.#output.page[at + 2] = response;
    this.#finish(at, tag, undefined);
  }

  asyncMessage(event: number, parameter: number): void {
    const at = this.#begin(TargetOpcode.asyncMessage, FINAL, 0);
    const { page } = this.#output;
    page[at + 36] = event;
    page.writeUInt16BE(parameter, at + 38);
    this.#finish(at, RESERVED_TAG, undefined);
  }

  /** Sends the header of what we do not take back, with the reason. */
  reject(header: Buffer, reason: number): void {
    const data = Buffer.from(header.subarray(0, HEADER_BYTES));
    const at = this.#begin(TargetOpcode.reject, FINAL, data.length);
    this.#output.page[at + 2] = reason;
    this.#finish(at, RESERVED_TAG, data);
  }

  #finish(at: number, tag: number, data: Buffer | undefined): void {
    const { page } = this.#output;
    page.writeUInt32BE(tag, at + 16);
    page.writeUInt32BE(this.#nextStatusNumber(), at + 24);
    data?.copy(page, at + this.#format.dataOffset);
    this.#format.seal(page, at, data?.length ?? 0);
  }

  /** Room for a PDU with its opcode and command numbers; only for its header when `dataLength` is `undefined`. */
  #begin(opcode: number, flags: number, dataLength: number | undefined): number {
    const format = this.#format;
    const at = this.#output.reserve(dataLength === undefined ? format.dataOffset : format.frameBytes(dataLength));
    const { page } = this.#output;
    page.fill(0, at, at + HEADER_BYTES);
    page[at] = opcode;
    page[at + 1] = flags;
    page.writeUInt32BE(this.#window.expected, at + 28);
    page.writeUInt32BE(this.#window.maximum, at + 32);
    return at;
  }

  #nextStatusNumber(): number {
    const number = this.#statusNumber;
    this.#statusNumber = (number + 1) >>> 0;
    return number;
  }
}

function residualOf(expected: number, actual: number): Residual {
  if (expected === actual) return NO_RESIDUAL;
  if (expected > actual) return { flag: UNDERFLOW, count: expected - actual };
  return { flag: OVERFLOW, count: actual - expected };
}
