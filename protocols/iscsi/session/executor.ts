import assert from 'node:assert/strict';
import type { BufferSource } from '../buffers.ts';
import type { Limits } from '../limits.ts';
import type { SessionParameters } from '../login/parameters.ts';
import { FINAL, RESERVED_TAG } from '../pdu/opcodes.ts';
import { ProtocolError } from '../pdu/receiver.ts';
import { answerWithoutUnit, admit, isOutcome } from '../scsi/dispatch.ts';
import type { LogicalUnit } from '../scsi/logical-unit.ts';
import type { Attachment, Nexus } from '../scsi/nexus.ts';
import { Status, TASK_ABORTED, failed, failureOf, type Answer, type Outcome } from '../scsi/outcome.ts';
import { Sense } from '../scsi/sense.ts';
import type { CommandWindow } from './command-window.ts';
import { count, newCounters } from './counters.ts';
import type { Responder } from './responder.ts';
import { IscsiTask, type Abort, type TaskOwner } from './task.ts';
import { WriteGather } from './write-gather.ts';

export interface ExecutorOptions {
  readonly nexus: Nexus;
  readonly limits: Limits;
  readonly buffers: BufferSource;
  readonly parameters: SessionParameters;
  readonly window: CommandWindow;
  readonly responder: Responder;
  /** Called with internal errors. */
  fail(error: unknown): void;
}

/** Carries the SCSI commands of a session from arrival to answer, within the memory a session may use. */
export class Executor implements TaskOwner {
  readonly nexus: Nexus;
  readonly counters = newCounters();
  readonly #options: ExecutorOptions;
  readonly #buffers: BufferSource;
  /** Commands that were not done at once, by task tag. */
  readonly #tasks = new Map<number, IscsiTask>();
  /** Reads that wait for earlier ones to leave. */
  #waitingReads: IscsiTask[] = [];
  /** Writes that wait for memory before they ask for their data. */
  #waitingWrites: IscsiTask[] = [];
  #readBytes = 0;
  #writeBytes = 0;
  #transferTag = 0;
  #immediate = 0;
  #receiving: WriteGather | undefined;
  #closed = false;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.nexus = options.nexus;
    this.#buffers = options.buffers;
  }

  get immediateCommands(): number {
    return this.#immediate;
  }

  isInUse(tag: number): boolean {
    return this.#tasks.has(tag);
  }

  allocateIn(bytes: number): Buffer {
    this.#readBytes += bytes;
    return this.#buffers.allocate(bytes);
  }

  /** A command with the data that came along. */
  start(header: Buffer, data: Buffer, target: Attachment | undefined): void {
    const task = new IscsiTask(this, header, target);
    this.counters.commands++;
    if (task.immediate) this.#immediate++;
    const admitted = target === undefined ? answerWithoutUnit(task.cdb, this.nexus) : admit(task.cdb, target);
    if (isOutcome(admitted)) task.verdict = admitted;
    else task.operation = admitted;
    task.neededBytes = task.operation?.dataOutBytes?.(task.cdb) ?? 0;
    const moreComes = task.writes && ((header[1] ?? 0) & FINAL) === 0;
    const wanted = this.#wantedBytes(task);
    if (wanted === 0 && !moreComes) this.#run(task);
    else this.#gather(task, wanted, moreComes, data);
  }

  /** What is longer than any command may be is refused when it runs; its data is not wanted. */
  #wantedBytes(task: IscsiTask): number {
    if (!task.writes || task.neededBytes > this.#options.limits.transferBytesMax) return 0;
    return Math.min(task.neededBytes, task.expectedBytes);
  }

  #gather(task: IscsiTask, wanted: number, moreComes: boolean, data: Buffer): void {
    const { parameters, limits } = this.#options;
    if (data.length > 0 && !parameters.immediateData) throw new ProtocolError('data came with a command');
    if (data.length > parameters.firstBurstBytes) throw new ProtocolError('more unasked data than agreed');
    if (moreComes && parameters.initialR2t)
      throw new ProtocolError('unsolicited data is announced but InitialR2T is Yes');
    const short = this.#writeBytes > 0 && this.#writeBytes + wanted > limits.writeBytesMax;
    const room = short ? Math.min(wanted, parameters.firstBurstBytes) : wanted;
    const gather = new WriteGather(this.#acquireBuffer(room), wanted, moreComes, parameters);
    task.gather = gather;
    if (data.length > 0) gather.acceptImmediate(data);
    if (gather.isComplete) {
      this.#dataComplete(task, gather);
      return;
    }
    this.#register(task);
    this.#request(task, gather);
  }

  #acquireBuffer(bytes: number): Buffer {
    this.#writeBytes += bytes;
    return this.#buffers.allocate(bytes);
  }

  #releaseGather(gather: WriteGather): void {
    if (gather.receiving) {
      gather.abandoned = true;
      return;
    }
    this.#writeBytes -= gather.buffer.length;
    assert.ok(this.#writeBytes >= 0, 'the buffer of a write is released once');
    this.#buffers.release(gather.buffer);
    if (this.#waitingWrites.length > 0) this.#grantWrites();
  }

  #grantWrites(): void {
    const waiting = this.#waitingWrites;
    this.#waitingWrites = [];
    for (const task of waiting) {
      if (task.gather !== undefined && this.#tasks.get(task.tag) === task) this.#request(task, task.gather);
    }
  }

  /** Asks for as much of the missing data as may be asked for at once. */
  #request(task: IscsiTask, gather: WriteGather): void {
    if (gather.isStaged && !gather.isUnsolicitedOpen && !this.#enlarge(gather)) {
      this.#waitingWrites.push(task);
      return;
    }
    for (;;) {
      const tag = this.#transferTag;
      const request = gather.request(tag);
      if (request === undefined) return;
      this.#transferTag = (tag + 1) % RESERVED_TAG;
      this.#options.responder.readyToTransfer(task.tag, tag, request);
    }
  }

  #enlarge(gather: WriteGather): boolean {
    const others = this.#writeBytes - gather.buffer.length;
    if (others > 0 && others + gather.wantedBytes > this.#options.limits.writeBytesMax) return false;
    const staged = gather.grow(this.#acquireBuffer(gather.wantedBytes));
    this.#writeBytes -= staged.length;
    this.#buffers.release(staged);
    return true;
  }

  /** Where the data of a Data-Out is to go. */
  destination(header: Buffer, dataLength: number): Buffer | undefined {
    const gather = this.#tasks.get(header.readUInt32BE(16))?.gather;
    if (gather?.isExpected(header, dataLength) !== true) return undefined;
    const place = gather.destination(header, dataLength);
    this.#receiving = place === undefined ? undefined : gather;
    return place;
  }

  dataOut(header: Buffer, data: Buffer): void {
    const receiving = this.#receiving;
    this.#receiving = undefined;
    if (receiving?.abandoned === true) {
      receiving.receiving = false;
      this.#releaseGather(receiving);
      return;
    }
    const task = this.#tasks.get(header.readUInt32BE(16));
    // Data of a command that is gone may still be on its way.
    if (task?.gather === undefined || task.running) return;
    if (!task.gather.isExpected(header, data.length)) {
      this.#end(task, failed(Sense.deliveryFailed));
      return;
    }
    task.gather.accept(header, data);
    if (task.gather.isComplete) this.#dataComplete(task, task.gather);
    else this.#request(task, task.gather);
  }

  #dataComplete(task: IscsiTask, gather: WriteGather): void {
    task.data = gather.buffer;
    this.#run(task);
  }

  #run(task: IscsiTask): void {
    const { operation } = task;
    if (task.verdict !== undefined || operation === undefined) {
      this.#end(task, task.verdict ?? failureOf(undefined));
      return;
    }
    if (operation.readsMedium === true && this.#readBytes > this.#options.limits.readBytesMax) {
      this.#register(task);
      this.#waitingReads.push(task);
      return;
    }
    const answer = this.#answerOf(task);
    if (!(answer instanceof Promise)) {
      this.#end(task, answer);
      return;
    }
    this.#register(task);
    task.running = true;
    const { unit } = task;
    unit.started();
    const end = (outcome: Outcome) => {
      this.#end(task, outcome);
      unit.ended();
    };
    const ended = answer.then(end, (error: unknown) => end(failureOf(error)));
    ended.catch((error: unknown) => this.#options.fail(error));
  }

  #answerOf(task: IscsiTask): Answer {
    const { operation } = task;
    try {
      if (operation === undefined) return failureOf(undefined);
      if (!task.ordered) return operation.run(task);
      return task.unit.lock.run(0, Infinity, true, async () => operation.run(task));
    } catch (error) {
      return failureOf(error);
    }
  }

  #register(task: IscsiTask): void {
    if (task.registered) return;
    task.registered = true;
    this.#tasks.set(task.tag, task);
  }

  #end(task: IscsiTask, outcome: Outcome): void {
    if (task.registered) this.#tasks.delete(task.tag);
    if (task.immediate) this.#immediate--;
    else this.#options.window.ended();
    if (task.gather !== undefined) this.#releaseGather(task.gather);
    if (outcome.status === Status.good) count(this.counters, task, outcome);
    this.#answer(task, outcome);
    for (const notify of task.whenEnded) notify();
  }

  #answer(task: IscsiTask, outcome: Outcome): void {
    const { dataIn } = task;
    const release = dataIn === undefined ? undefined : () => this.#releaseIn(dataIn);
    if (this.#closed || task.abort === 'unanswered') {
      release?.();
      return;
    }
    const answered = task.abort === 'answered' ? TASK_ABORTED : outcome;
    this.#options.responder.answer(task, answered, release);
  }

  #releaseIn(buffer: Buffer): void {
    this.#readBytes -= buffer.length;
    assert.ok(this.#readBytes >= 0, 'the buffer of a read is released once');
    this.#buffers.release(buffer);
    if (this.#waitingReads.length === 0) return;
    const waiting = this.#waitingReads;
    this.#waitingReads = [];
    for (const task of waiting) this.#run(task);
  }

  find(tag: number): IscsiTask | undefined {
    return this.#tasks.get(tag);
  }

  /** Ends every command on a unit, or on all; resolves when the device is done with them. */
  async abortAll(unit: LogicalUnit | undefined, how: Abort): Promise<void> {
    const tasks = [...this.#tasks.values()].filter((task) => unit === undefined || task.target?.unit === unit);
    await Promise.all(tasks.map((task) => this.abort(task, how)));
  }

  abort(task: IscsiTask, how: Abort): Promise<void> {
    task.abort ??= how;
    if (task.running) return new Promise((resolve) => task.whenEnded.push(resolve));
    this.#waitingReads = this.#waitingReads.filter((waiting) => waiting !== task);
    this.#waitingWrites = this.#waitingWrites.filter((waiting) => waiting !== task);
    this.#end(task, TASK_ABORTED);
    return Promise.resolve();
  }

  /** Resolves when no device works for this session; what still waits for its data does not count. */
  async whenIdle(): Promise<void> {
    const running = [...this.#tasks.values()].filter((task) => task.running);
    await Promise.all(running.map((task) => new Promise<void>((resolve) => task.whenEnded.push(resolve))));
  }

  /** The session is gone: nothing is answered any more. */
  close(): Promise<void> {
    this.#closed = true;
    const receiving = this.#receiving;
    this.#receiving = undefined;
    // The receiver has stopped, so this buffer is not filled any more.
    if (receiving !== undefined) receiving.receiving = false;
    if (receiving?.abandoned === true) this.#releaseGather(receiving);
    return this.abortAll(undefined, 'unanswered');
  }
}
