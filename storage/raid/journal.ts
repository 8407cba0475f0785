import assert from 'node:assert/strict';
import { allDone } from '../all-done.ts';
import { isNoSpace, StorageError } from '../errors.ts';
import { BLOCK_BYTES } from '../units.ts';
import type { FailMember } from './checksums.ts';
import type { GroupCore } from './core.ts';
import { decodeHeader, decodePayload, encodeRecord, recordBytes } from './journal-record.ts';
import type { RecordHeader, ShardWrite } from './journal-record.ts';
import type { Member } from './member.ts';

const COPIES = 2;

interface Waiting {
  readonly writes: readonly ShardWrite[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * While a member is missing, a stripe half written would take the missing blocks with it. So everything that is to be
 * written in a stripe is first put here, on two members, and replayed after a crash. Records fill the area from its
 * start; when it is full, everything is made durable in its place and a new generation begins at the start. A record
 * counts only for the event it was written under, so every change of members ends a generation too.
 */
export class Journal {
  readonly #core: GroupCore;
  readonly #fail: FailMember;
  #generation = 1;
  #index = 0;
  #position = 0;
  /** Records whose blocks are being written in their places. */
  #active = 0;
  /** The rows of all records of this generation. */
  #rows: { readonly row: number; readonly end: number }[] = [];
  #queue: Waiting[] = [];
  #isRunning = false;
  /** A record was refused halfway: what comes after it would not be found, so a new generation has to begin. */
  #isCutOff = false;
  #onIdle: (() => void) | undefined;

  constructor(options: { readonly core: GroupCore; readonly fail: FailMember }) {
    this.#core = options.core;
    this.#fail = options.fail;
  }

  /** The most one record may take. */
  get recordBytesMax(): number {
    return this.#core.layout.journalBytes;
  }

  /** Whether a replay would write these rows: then every write to them has to be in the journal too. */
  covers(row: number, count: number): boolean {
    return this.#rows.some((range) => range.row < row + count && row < range.end);
  }

  /** Resolves when the record survives a crash. The caller then writes the blocks and calls `finish`. */
  append(writes: readonly ShardWrite[]): Promise<void> {
    assert.ok(recordBytes(writes) <= this.recordBytesMax, 'a record fits into the journal');
    return new Promise((resolve, reject) => {
      this.#queue.push({ writes, resolve, reject });
      if (!this.#isRunning) void this.#run();
    });
  }

  finish(): void {
    this.#active -= 1;
    if (this.#active === 0) this.#onIdle?.();
  }

  /** The members have changed and everything is durable in its place. */
  startAnew(): void {
    this.#generation += 1;
    this.#index = 0;
    this.#position = 0;
    this.#rows = [];
    this.#isCutOff = false;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#queue.length > 0) {
      const batch = this.#isCutOff ? [] : this.#takeBatch();
      try {
        if (batch.length === 0) {
          await this.#wrap();
          continue;
        }
        await this.#writeBatch(batch);
        this.#active += batch.length;
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#isCutOff ||= batch.length > 0 && isNoSpace(error);
        const refused = batch.length > 0 ? batch : this.#queue.splice(0);
        for (const { reject } of refused) reject(error);
      }
    }
    this.#isRunning = false;
  }

  #takeBatch(): Waiting[] {
    const batch: Waiting[] = [];
    let end = this.#position;
    for (const waiting of this.#queue) {
      const bytes = recordBytes(waiting.writes);
      if (end + bytes > this.#core.layout.journalBytes) break;
      end += bytes;
      batch.push(waiting);
    }
    this.#queue.splice(0, batch.length);
    return batch;
  }

  async #wrap(): Promise<void> {
    if (this.#active > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    this.#onIdle = undefined;
    if (this.#core.resyncs.owed.size > 0) {
      throw new StorageError('no-space', `Group ${this.#core.id} has writes it found no room for; make room for them.`);
    }
    await this.#core.flushMembers();
    this.startAnew();
  }

  async #writeBatch(batch: readonly Waiting[]): Promise<void> {
    const start = this.#position;
    const records = batch.map(({ writes }) => {
      const record = encodeRecord(this.#identity(), writes);
      this.#index += 1;
      this.#position += record.length;
      const row = Math.min(...writes.map((write) => write.row));
      this.#rows.push({ row, end: Math.max(...writes.map((write) => write.row + write.count)) });
      return record;
    });
    const content = Buffer.concat(records);
    const written = new Set<Member>();
    while (written.size < COPIES) {
      if (this.#core.membership.failure !== undefined) throw this.#core.membership.failure;
      const members = this.#core.membership.readers.filter((member) => !written.has(member));
      await allDone(
        members.slice(0, COPIES - written.size).map(async (member) => {
          try {
            await member.drive.writeDurably(this.#core.layout.journalOffset + start, content);
            written.add(member);
          } catch (error) {
            this.#fail(member, error);
          }
        }),
      );
      for (const member of written) if (!member.isAlive) written.delete(member);
    }
  }

  /** Writes what a crash may have left half written. Afterwards everything is where it belongs, and durable. */
  async replay(): Promise<number> {
    const { membership, layout } = this.#core;
    if (layout.journalBytes === 0) return 0;
    const members = membership.readers;
    const heads = await Promise.all(members.map((member) => this.#readHeader(member, 0)));
    const present = heads.filter((header) => header !== undefined);
    this.#generation = Math.max(0, ...present.map((header) => header.generation));
    const current = present.filter((header) => header.events === membership.events);
    const generation = Math.max(0, ...current.map((header) => header.generation));
    let position = 0;
    let index = 0;
    for (; ; index += 1) {
      const record = await this.#findRecord(members, position, { generation, index });
      if (record === undefined) break;
      for (const write of record.writes) await this.#apply(write);
      position += record.bytes;
    }
    if (index > 0) await this.#core.flushMembers();
    this.startAnew();
    return index;
  }

  async #findRecord(
    members: readonly Member[],
    position: number,
    wanted: { readonly generation: number; readonly index: number },
  ): Promise<{ readonly writes: ShardWrite[]; readonly bytes: number } | undefined> {
    const { events } = this.#core.membership;
    for (const member of members) {
      const header = await this.#readHeader(member, position);
      if (header?.events !== events) continue;
      if (header.generation !== wanted.generation || header.index !== wanted.index) continue;
      const payload = Buffer.alloc(header.payloadBytes);
      if (!(await this.#read(member, position + BLOCK_BYTES, payload))) continue;
      const writes = decodePayload(header, payload);
      if (writes !== undefined) return { writes, bytes: BLOCK_BYTES + header.payloadBytes };
    }
    return undefined;
  }

  async #apply({ slot, row, data, entries }: ShardWrite): Promise<void> {
    const { checksums, membership } = this.#core;
    const member = membership.members[slot];
    if (member?.holds(row) !== true) return;
    if (data !== undefined) await this.#core.writeRows(member, row, data);
    await checksums.put(member, row, entries);
  }

  async #readHeader(member: Member, position: number): Promise<RecordHeader | undefined> {
    if (position + BLOCK_BYTES > this.#core.layout.journalBytes) return undefined;
    const block = Buffer.alloc(BLOCK_BYTES);
    if (!(await this.#read(member, position, block))) return undefined;
    const header = decodeHeader(block);
    if (header?.groupId !== this.#core.id) return undefined;
    return position + BLOCK_BYTES + header.payloadBytes > this.#core.layout.journalBytes ? undefined : header;
  }

  async #read(member: Member, position: number, into: Buffer): Promise<boolean> {
    try {
      await member.drive.read(this.#core.layout.journalOffset + position, into);
      return true;
    } catch (error) {
      this.#fail(member, error);
      return false;
    }
  }

  #identity(): Pick<RecordHeader, 'groupId' | 'events' | 'generation' | 'index'> {
    const { membership, id } = this.#core;
    return { groupId: id, events: membership.events, generation: this.#generation, index: this.#index };
  }
}
