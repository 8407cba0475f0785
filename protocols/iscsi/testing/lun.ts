import { ScsiError } from './errors.ts';
import type { Sense } from './sense.ts';
import type { Channel } from './channel.ts';
import type { InitiatorSession } from './session.ts';
import type { CommandResult, InitiatorTask } from './task.ts';
import { put32, taskManagement } from './wire.ts';

const UNIT_ATTENTIONS_MAX = 16;
const FUA = 0x08;
const attributes = { untagged: 0, simple: 1, ordered: 2, head: 3 } as const;

export interface CommandOptions {
  readonly dataOut?: Buffer;
  /** How many bytes we are ready to take. */
  readonly expectIn?: number;
  readonly into?: Buffer;
  readonly attribute?: keyof typeof attributes;
  /** Goes past the window of commands. */
  readonly immediate?: boolean;
}

export interface Capacity {
  readonly blocks: number;
  readonly blockBytes: number;
  readonly blocksPerPhysicalBlock: number;
  readonly thinProvisioned: boolean;
  readonly unmappedReadsZeros: boolean;
}

export interface BlockRange {
  readonly lba: number;
  readonly blocks: number;
}

/** A command under way, for task management. */
export interface StartedCommand {
  readonly tag: number;
  readonly done: Promise<CommandResult>;
}

/** A logical unit. `execute` returns whatever came of a command; the others throw `ScsiError` unless all went well. */
export class Lun {
  readonly session: InitiatorSession;
  readonly number: number;
  /** Of what `read` makes its buffer; `readCapacity` sets it right. */
  blockBytes: number;

  readonly #channel: Channel;

  constructor(session: InitiatorSession, channel: Channel, number: number, blockBytes: number) {
    this.session = session;
    this.#channel = channel;
    this.number = number;
    this.blockBytes = blockBytes;
  }

  async read(lba: number, blocks: number, into?: Buffer): Promise<Buffer> {
    const task = this.#transfer(0x28, lba, blocks, 0);
    task.isRead = true;
    task.into = into ?? Buffer.allocUnsafe(blocks * this.blockBytes);
    task.expected = task.into.length;
    return this.#channel.start(task);
  }

  async write(lba: number, data: Buffer, { fua = false } = {}): Promise<void> {
    const task = this.#transfer(0x2a, lba, data.length / this.blockBytes, fua ? FUA : 0);
    task.isWrite = true;
    task.dataOut = data;
    task.expected = data.length;
    await this.#channel.start(task);
  }

  /** Resolves when everything written before is safe. */
  async synchronizeCache(): Promise<void> {
    await this.#require('SYNCHRONIZE CACHE', Buffer.of(0x35, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  }

  async unmap(ranges: readonly BlockRange[]): Promise<void> {
    const dataOut = Buffer.alloc(8 + ranges.length * 16);
    dataOut.writeUInt16BE(dataOut.length - 2, 0);
    dataOut.writeUInt16BE(dataOut.length - 8, 2);
    ranges.forEach(({ lba, blocks }, index) => {
      dataOut.writeBigUInt64BE(BigInt(lba), 8 + index * 16);
      dataOut.writeUInt32BE(blocks, 16 + index * 16);
    });
    const cdb = Buffer.alloc(10);
    cdb[0] = 0x42;
    cdb.writeUInt16BE(dataOut.length, 7);
    await this.#require('UNMAP', cdb, { dataOut });
  }

  async testUnitReady(): Promise<void> {
    await this.#require('TEST UNIT READY', Buffer.alloc(6));
  }

  /** Takes the unit attentions that wait, as they do after a login, and returns them. */
  async clearUnitAttentions(): Promise<Sense[]> {
    const seen: Sense[] = [];
    for (let round = 0; round < UNIT_ATTENTIONS_MAX; round += 1) {
      const { status, sense } = await this.execute(Buffer.alloc(6));
      if (status === 0) return seen;
      if (sense?.key !== 6) throw new ScsiError('TEST UNIT READY', status, sense);
      seen.push(sense);
    }
    throw new Error(`The unit still has attentions after ${UNIT_ATTENTIONS_MAX} of them`);
  }

  /** The standard data, or a page of vital product data. */
  async inquiry(page?: number, allocationBytes = 255): Promise<Buffer> {
    const cdb = Buffer.of(0x12, page === undefined ? 0 : 1, page ?? 0, allocationBytes >> 8, allocationBytes & 255, 0);
    return (await this.#require('INQUIRY', cdb, { expectIn: allocationBytes })).data;
  }

  async reportLuns(): Promise<number[]> {
    const cdb = Buffer.alloc(12);
    cdb[0] = 0xa0;
    cdb.writeUInt32BE(4096, 6);
    const { data } = await this.#require('REPORT LUNS', cdb, { expectIn: 4096 });
    const count = data.readUInt32BE(0) / 8;
    return Array.from({ length: count }, (_, index) => data.readUInt16BE(8 + index * 8) & 0x3fff);
  }

  async readCapacity(): Promise<Capacity> {
    const cdb = Buffer.alloc(16);
    cdb[0] = 0x9e;
    cdb[1] = 0x10;
    cdb[13] = 32;
    const { data } = await this.#require('READ CAPACITY', cdb, { expectIn: 32 });
    this.blockBytes = data.readUInt32BE(8);
    return {
      blocks: Number(data.readBigUInt64BE(0)) + 1,
      blockBytes: this.blockBytes,
      blocksPerPhysicalBlock: 2 ** ((data[13] ?? 0) & 15),
      thinProvisioned: ((data[14] ?? 0) & 0x80) !== 0,
      unmappedReadsZeros: ((data[14] ?? 0) & 0x40) !== 0,
    };
  }

  async execute(cdb: Buffer, options: CommandOptions = {}): Promise<CommandResult> {
    return this.begin(cdb, options).done;
  }

  /** Like `execute`, with the tag that `abortTask` wants. */
  begin(cdb: Buffer, options: CommandOptions = {}): StartedCommand {
    if (cdb.length > 16) throw new Error('Commands of more than 16 bytes are not supported');
    const { dataOut, expectIn = options.into?.length } = options;
    const task = this.#channel.receive();
    task.lun = this.number;
    task.cdb.fill(0);
    cdb.copy(task.cdb);
    task.attribute = attributes[options.attribute ?? 'simple'];
    task.immediate = options.immediate ?? false;
    if (dataOut !== undefined && dataOut.length > 0) {
      task.isWrite = true;
      task.dataOut = dataOut;
      task.expected = dataOut.length;
    } else if (expectIn !== undefined && expectIn > 0) {
      task.isRead = true;
      task.into = options.into ?? Buffer.alloc(expectIn);
      task.expected = expectIn;
    }
    const { tag } = task;
    return { tag, done: this.#channel.start<CommandResult>(task) };
  }

  abortTask(tag: number): Promise<number> {
    return this.session.manage(taskManagement.abortTask, this.number, tag);
  }

  abortTaskSet(): Promise<number> {
    return this.session.manage(taskManagement.abortTaskSet, this.number);
  }

  reset(): Promise<number> {
    return this.session.manage(taskManagement.logicalUnitReset, this.number);
  }

  async #require(name: string, cdb: Buffer, options?: CommandOptions): Promise<CommandResult> {
    const result = await this.execute(cdb, options);
    if (result.status !== 0) throw new ScsiError(name, result.status, result.sense);
    return result;
  }

  /** READ or WRITE: of 10 bytes where that reaches, else of 16. */
  #transfer(opcode: number, lba: number, blocks: number, flags: number): InitiatorTask {
    const task = this.#channel.receive();
    const { cdb } = task;
    task.kind = 'transfer';
    task.lun = this.number;
    cdb[1] = flags;
    if (lba <= 0xffffffff && blocks <= 0xffff) {
      cdb[0] = opcode;
      put32(cdb, 2, lba);
      cdb[6] = 0;
      cdb[7] = blocks >>> 8;
      cdb[8] = blocks;
      cdb.fill(0, 9);
    } else {
      cdb[0] = opcode | 0x80;
      put32(cdb, 2, Math.floor(lba / 2 ** 32));
      put32(cdb, 6, lba % 2 ** 32);
      put32(cdb, 10, blocks);
      cdb[14] = 0;
      cdb[15] = 0;
    }
    return task;
  }
}
