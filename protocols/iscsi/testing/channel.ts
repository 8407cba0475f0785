import type { InitiatorConnection } from './connection.ts';
import { AbortedError, InitiatorProtocolError, RejectError, ScsiError, SessionClosedError } from './errors.ts';
import type { LoginResult } from './login.ts';
import type { SessionParameters } from './parameters.ts';
import type { PduSink, Reader } from './reader.ts';
import { report, type AsyncMessage, type UnitAttention } from './reports.ts';
import { decodeSense } from './sense.ts';
import { completeTask, TaskTable, type Answer, type InitiatorTask } from './task.ts';
import { answerReadyToTransfer, checkDataIn, sendCommand } from './transfer.ts';
import { fields, FINAL, get32, IMMEDIATE, isBefore, NO_TAG, opcodes, put32 } from './wire.ts';

const OVERFLOW = 0x04;
const UNDERFLOW = 0x02;

/** Commands out, answers in. Every answer is held against the protocol; the first wrong one ends the connection. */
export class Channel implements PduSink {
  readonly parameters: SessionParameters;
  /** Asynchronous messages of logical units and the target, oldest first; the last hundred. */
  readonly unitAttentions: UnitAttention[] = [];
  readonly asyncMessages: AsyncMessage[] = [];
  readonly #connection: InitiatorConnection;
  readonly #tasks = new TaskTable();
  readonly #waiting: InitiatorTask[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #timeoutMs: number;
  #nowMs = Date.now();
  #commandSn: number;
  #commandSnMax: number;
  #statusSn: number;
  #closed: Error | undefined;
  #current: InitiatorTask | undefined;

  constructor(connection: InitiatorConnection, login: LoginResult, timeoutMs: number) {
    this.#connection = connection;
    this.parameters = login.parameters;
    this.#commandSn = login.commandSn;
    this.#commandSnMax = login.commandSnMax;
    this.#statusSn = login.expectedStatusSn;
    this.#timeoutMs = timeoutMs;
    this.#timer = setInterval(() => this.#expire(), Math.min(timeoutMs / 4, 1000)).unref();
    connection.reader.sink = this;
    connection.onClosed = (error) => this.#end(error);
  }

  get commandSn(): number {
    return this.#commandSn;
  }

  /** How many commands the target would take right now. */
  get window(): number {
    return (this.#commandSnMax - this.#commandSn + 1) | 0;
  }

  get isOpen(): boolean {
    return this.#closed === undefined;
  }

  /** A task to fill in and `start`. */
  receive(): InitiatorTask {
    if (this.#closed !== undefined) throw new SessionClosedError(this.#closed.message, { cause: this.#closed });
    return this.#tasks.remove();
  }

  start<Result>(task: InitiatorTask): Promise<Result> {
    task.deadlineMs = this.#nowMs + this.#timeoutMs;
    return new Promise((resolve, reject) => {
      task.resolve = resolve;
      task.reject = reject;
      if (task.immediate || (this.#waiting.length === 0 && !isBefore(this.#commandSnMax, this.#commandSn))) {
        this.#send(task);
      } else {
        task.waiting = true;
        this.#waiting.push(task);
      }
    });
  }

  #send(task: InitiatorTask): void {
    task.commandSn = this.#commandSn;
    task.waiting = false;
    sendCommand(this.#connection.sender, task, this.parameters, this.#commandSn, this.#statusSn);
    if (!task.immediate) this.#commandSn = (this.#commandSn + 1) >>> 0;
  }

  /** Asks with a PDU of its own kind and waits for the answer. `fill` writes the rest of the header. */
  async exchange(opcode: number, fill: (header: Buffer) => void, data?: Buffer): Promise<Answer> {
    const task = this.receive();
    task.kind = 'exchange';
    task.answerOpcode = opcode | 0x20;
    task.deadlineMs = this.#nowMs + this.#timeoutMs;
    task.commandSn = this.#commandSn;
    const { header } = this.#connection.sender;
    header.fill(0);
    header[0] = opcode | IMMEDIATE;
    header[1] = FINAL;
    put32(header, fields.taskTag, task.tag);
    put32(header, fields.transferTag, NO_TAG);
    put32(header, fields.commandSn, this.#commandSn);
    put32(header, fields.expectedStatusSn, this.#statusSn);
    fill(header);
    this.#connection.sender.send(data);
    return new Promise((resolve, reject) => {
      task.resolve = resolve;
      task.reject = reject;
    });
  }

  place(header: Buffer, length: number, reader: Reader): void {
    if (((header[0] as number) & 0x3f) !== opcodes.dataIn) return;
    const task = this.#find(header);
    checkDataIn(task, this.parameters, header, length);
    this.#current = task;
    reader.destination = task.into;
    reader.destinationAt = get32(header, fields.bufferOffset);
  }

  received(header: Buffer, length: number, reader: Reader): void {
    const opcode = (header[0] as number) & 0x3f;
    switch (opcode) {
      case opcodes.dataIn:
        this.#dataIn(header, length);
        return;
      case opcodes.scsiResponse:
        this.#response(header, reader.scratch.subarray(0, length));
        return;
      case opcodes.readyToTransfer:
        this.#window(header);
        answerReadyToTransfer(this.#connection.sender, this.#find(header), this.parameters, header, this.#statusSn);
        return;
      case opcodes.nopIn:
        this.#nopIn(header, reader.scratch.subarray(0, length));
        return;
      case opcodes.asyncMessage:
        this.#asyncMessage(header, reader.scratch.subarray(0, length));
        return;
      case opcodes.reject:
        this.#rejected(header, reader.scratch.subarray(0, length));
        return;
      default:
        this.#answer(opcode, header, reader.scratch.subarray(0, length));
    }
  }

  #find(header: Buffer): InitiatorTask {
    const tag = get32(header, fields.taskTag);
    const task = this.#tasks.find(tag);
    if (task === undefined || task.waiting)
      throw new InitiatorProtocolError(`An answer to task ${tag}, which is not under way`);
    return task;
  }

  #dataIn(header: Buffer, length: number): void {
    const task = this.#current ?? this.#find(header);
    this.#current = undefined;
    const flags = header[1] as number;
    task.dataPdus += 1;
    task.received += length;
    if ((flags & FINAL) !== 0) task.burst = 0;
    if ((flags & 1) === 0) {
      this.#window(header);
      return;
    }
    if ((flags & FINAL) === 0)
      throw new InitiatorProtocolError('Data-In with a status that is not the last of its sequence');
    this.#statusIn(header);
    task.status = header[3] as number;
    this.#complete(task, header, flags);
  }

  #response(header: Buffer, data: Buffer): void {
    const task = this.#find(header);
    this.#statusIn(header);
    if (header[2] !== 0) {
      const error = new ScsiError(`The target could not run the command (response ${header[2] ?? 0})`, 0xff, undefined);
      this.#finish(task, error);
      return;
    }
    const sent = task.dataPdus + task.readyToTransfers;
    const counted = get32(header, fields.dataSn);
    if (counted !== 0 && counted !== sent) {
      throw new InitiatorProtocolError(`ExpDataSN ${counted}, but ${sent} Data-In and R2T PDUs came`);
    }
    task.status = header[3] as number;
    const senseBytes = data.length < 2 ? 0 : data.readUInt16BE(0);
    if (senseBytes > 0) task.sense = decodeSense(data.subarray(2, 2 + senseBytes));
    if (task.sense?.key === 6) report(this.unitAttentions, { lun: task.lun, sense: task.sense });
    this.#complete(task, header, header[1] as number);
  }

  #complete(task: InitiatorTask, header: Buffer, flags: number): void {
    const residual = get32(header, fields.residual);
    if ((flags & UNDERFLOW) !== 0) task.residual = residual;
    if ((flags & OVERFLOW) !== 0) task.residual = -residual;
    if (task.isRead && task.status === 0 && task.received !== task.expected - Math.max(task.residual, 0)) {
      throw new InitiatorProtocolError(
        `${task.received} of ${task.expected} bytes came, but the target says ${task.residual} are missing`,
      );
    }
    this.#finish(task);
  }

  #finish(task: InitiatorTask, error?: Error): void {
    completeTask(task, error);
    this.#tasks.release(task);
  }

  #answer(opcode: number, header: Buffer, data: Buffer): void {
    const task = this.#find(header);
    if (task.kind !== 'exchange' || task.answerOpcode !== opcode) {
      throw new InitiatorProtocolError(`Opcode 0x${opcode.toString(16)} is no answer to task ${task.tag}`);
    }
    this.#statusIn(header);
    const answer: Answer = { header: Buffer.from(header.subarray(0, 48)), data: Buffer.from(data) };
    task.resolve(answer as never);
    this.#tasks.release(task);
  }

  #nopIn(header: Buffer, data: Buffer): void {
    if (get32(header, fields.taskTag) !== NO_TAG) {
      this.#answer(opcodes.nopIn, header, data);
      return;
    }
    this.#window(header);
    const transferTag = get32(header, fields.transferTag);
    if (transferTag === NO_TAG) return;
    const reply = this.#connection.sender.header;
    reply.fill(0);
    reply[0] = opcodes.nopOut | IMMEDIATE;
    reply[1] = FINAL;
    header.copy(reply, fields.lun, fields.lun, fields.lun + 8);
    put32(reply, fields.taskTag, NO_TAG);
    put32(reply, fields.transferTag, transferTag);
    put32(reply, fields.commandSn, this.#commandSn);
    put32(reply, fields.expectedStatusSn, this.#statusSn);
    this.#connection.sender.send();
  }

  #asyncMessage(header: Buffer, data: Buffer): void {
    this.#statusIn(header);
    const sense = data.length < 2 ? undefined : decodeSense(data.subarray(2, 2 + data.readUInt16BE(0)));
    const lun = ((header[8] as number) & 0x3f) * 256 + (header[9] as number);
    report(this.asyncMessages, { event: header[36] as number, lun, sense });
  }

  #rejected(header: Buffer, data: Buffer): void {
    this.#statusIn(header);
    const error = new RejectError(header[2] as number);
    const task = data.length < 48 ? undefined : this.#tasks.find(get32(data, fields.taskTag));
    if (task === undefined) throw error;
    this.#finish(task, error);
  }

  #statusIn(header: Buffer): void {
    const statusSn = get32(header, fields.statusSn);
    if (statusSn !== this.#statusSn)
      throw new InitiatorProtocolError(`StatSN ${statusSn} where ${this.#statusSn} was due`);
    this.#statusSn = (statusSn + 1) >>> 0;
    this.#window(header);
  }

  #window(header: Buffer): void {
    const expected = get32(header, fields.expectedCommandSn);
    const max = get32(header, fields.commandSnMax);
    if (isBefore(this.#commandSn, expected)) {
      throw new InitiatorProtocolError(`ExpCmdSN ${expected}, but we have only come to ${this.#commandSn}`);
    }
    if (isBefore(max, this.#commandSnMax) || isBefore(max, (expected - 1) >>> 0)) return;
    this.#commandSnMax = max;
    while (this.#waiting.length > 0 && !isBefore(this.#commandSnMax, this.#commandSn)) {
      this.#send(this.#waiting.shift() as InitiatorTask);
    }
  }

  /** Ends the tasks that task management has ended at the target: those sent before command `before`. */
  abort(before: number, isConcerned: (task: InitiatorTask) => boolean): void {
    for (const task of this.#tasks.active()) {
      if (task.kind === 'exchange' || task.waiting || !isBefore(task.commandSn, before)) continue;
      if (isConcerned(task)) this.#finish(task, new AbortedError('Ended by task management'));
    }
  }

  find(tag: number): InitiatorTask | undefined {
    return this.#tasks.find(tag);
  }

  #expire(): void {
    this.#nowMs = Date.now();
    const late = this.#tasks.active().some(({ deadlineMs }) => deadlineMs < this.#nowMs);
    if (late) this.#connection.destroy(new SessionClosedError(`No answer within ${this.#timeoutMs} ms`));
  }

  #end(error: Error): void {
    this.#closed ??= error;
    clearInterval(this.#timer);
    this.#waiting.length = 0;
    for (const task of this.#tasks.active()) {
      task.reject(error);
      this.#tasks.release(task);
    }
  }
}
