import { ScsiError } from './errors.ts';
import type { Sense } from './sense.ts';

/** How a task is answered: whole, whatever came of it; by its data, or an error unless all went well; or as it came. */
export type TaskKind = 'command' | 'transfer' | 'exchange';

export interface CommandResult {
  readonly status: number;
  readonly sense: Sense | undefined;
  /** What was read. */
  readonly data: Buffer;
  /** Bytes that were expected but not moved; below zero: bytes there was no room for. */
  readonly residual: number;
}

export interface Answer {
  readonly header: Buffer;
  readonly data: Buffer;
}

const NOTHING = Buffer.alloc(0);

/** One thing we wait for. Tasks are used again and again; the generation in the tag tells an old answer from a new one. */
export class InitiatorTask {
  readonly slot: number;
  readonly cdb = Buffer.alloc(16);
  tag = 0;
  kind: TaskKind = 'command';
  lun = 0;
  attribute = 1;
  immediate = false;
  waiting = false;
  /** What the command header says will be moved. */
  expected = 0;
  dataOut: Buffer = NOTHING;
  isWrite = false;
  into: Buffer = NOTHING;
  isRead = false;
  commandSn = 0;
  received = 0;
  burst = 0;
  dataPdus = 0;
  readyToTransfers = 0;
  solicitedAt = 0;
  status = 0;
  residual = 0;
  sense: Sense | undefined = undefined;
  answerOpcode = 0;
  deadlineMs = 0;
  resolve: (value: never) => void = ignore;
  reject: (error: Error) => void = ignore;

  constructor(slot: number) {
    this.slot = slot;
  }

  reset(): void {
    this.kind = 'command';
    this.attribute = 1;
    this.immediate = false;
    this.waiting = false;
    this.expected = 0;
    this.isWrite = false;
    this.isRead = false;
    this.received = 0;
    this.burst = 0;
    this.dataPdus = 0;
    this.readyToTransfers = 0;
    this.solicitedAt = 0;
    this.status = 0;
    this.residual = 0;
    this.sense = undefined;
  }

  release(): void {
    this.tag = 0;
    this.dataOut = NOTHING;
    this.into = NOTHING;
    this.resolve = ignore;
    this.reject = ignore;
  }
}

function ignore(): void {
  // A task without a waiter.
}

/** Resolves or rejects the promise of the task. */
export function completeTask(task: InitiatorTask, error?: Error): void {
  const { resolve, reject, kind, into, received, residual, status, sense } = task;
  if (error !== undefined) {
    reject(error);
  } else if (kind === 'command') {
    const result: CommandResult = { status, sense, data: into.subarray(0, received), residual };
    resolve(result as never);
  } else if (status === 0 && residual === 0) {
    resolve(into as never);
  } else {
    const opcode = (task.cdb[0] as number).toString(16);
    reject(new ScsiError(`Command 0x${opcode}, ${residual} bytes not moved`, status, sense));
  }
}

const SLOT_BITS = 12;
const SLOTS = 1 << SLOT_BITS;
const GENERATIONS = 1 << 19;

/** The tasks under way. */
export class TaskTable {
  readonly #tasks: InitiatorTask[] = [];
  readonly #free: InitiatorTask[] = [];
  #generation = 0;

  remove(): InitiatorTask {
    const task = this.#free.pop() ?? this.#grow();
    this.#generation = (this.#generation + 1) % GENERATIONS;
    task.tag = ((this.#generation << SLOT_BITS) | task.slot) + 1;
    task.reset();
    return task;
  }

  find(tag: number): InitiatorTask | undefined {
    const task = this.#tasks[(tag - 1) & (SLOTS - 1)];
    return task?.tag === tag ? task : undefined;
  }

  release(task: InitiatorTask): void {
    task.release();
    this.#free.push(task);
  }

  active(): InitiatorTask[] {
    return this.#tasks.filter(({ tag }) => tag !== 0);
  }

  #grow(): InitiatorTask {
    if (this.#tasks.length === SLOTS) throw new Error(`${SLOTS} commands are under way: wait until some are done`);
    const task = new InitiatorTask(this.#tasks.length);
    this.#tasks.push(task);
    return task;
  }
}
