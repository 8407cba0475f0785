import assert from 'node:assert/strict';
import { allDone } from '../../all-done.ts';
import { SharedFlush } from '../../drive/shared-flush.ts';
import { isNoSpace, StorageError } from '../../errors.ts';
import { BLOCK_BYTES } from '../../units.ts';
import type { ChecksumCache } from '../checksums/checksums.ts';
import { decodeHeader, decodePayload, encodeRecord, RECORD_WRITES_MAX, recordBytes } from './journal-record.ts';
import type { RecordHeader, ShardWrite } from './journal-record.ts';
import type { Layout } from '../layout.ts';
import type { GroupMembership } from '../members/group-membership.ts';
import type { FailMember, Member } from '../members/member.ts';

/** The group whose stripe writes are journaled. */
interface JournaledGroup {
  readonly id: string;
  readonly layout: Layout;
  readonly membership: GroupMembership;
  readonly checksums: ChecksumCache;
  readonly resyncs: { readonly deferred: { readonly size: number } };
  writeRows(member: Member, row: number, from: Buffer): Promise<boolean>;
  flushMembers(): Promise<void>;
}

const COPIES = 2;
const NO_HEADER = Buffer.alloc(BLOCK_BYTES);

interface Waiting {
  readonly writes: readonly ShardWrite[];
  readonly resolve: (refusal?: StorageError) => void;
  readonly reject: (error: unknown) => void;
}

/** The place and identity of a record. */
interface Place {
  readonly position: number;
  readonly generation: number;
  readonly index: number;
}

/**
 * While a member is missing, a partial stripe write would corrupt the missing blocks. All writes to a stripe are
 * therefore recorded here first, on two members, and replayed after a crash. Records fill the area from its start. When
 * it is full, all blocks are made durable in place and a new generation begins at the start. A record is valid only for
 * the event count it was written under, so every membership change ends a generation. See `../README.md`.
 */
export class RaidJournal {
  readonly #core: JournaledGroup;
  readonly #fail: FailMember;
  #generation = 1;
  #index = 0;
  #position = 0;
  /** Records whose blocks are being written in place. */
  #active = 0;
  /** The rows of all records of this generation. */
  #rows: { readonly row: number; readonly end: number }[] = [];
  #queue: Waiting[] = [];
  #isRunning = false;
  /** A record was refused partway: later records would not be found, so a new generation has to begin. */
  #isCutOff = false;
  /** Records that a replay would find, although a full disk refused one of their copies. */
  #incomplete: { readonly position: number; readonly content: Buffer } | undefined;
  readonly #completer = new SharedFlush(() => this.#completeNow());
  #onIdle: (() => void) | undefined;

  constructor(options: { readonly core: JournaledGroup; readonly fail: FailMember }) {
    this.#core = options.core;
    this.#fail = options.fail;
  }

  /** The maximum size of a record. */
  get recordBytesMax(): number {
    return this.#core.layout.journalBytes;
  }

  /** Whether a replay would write these rows: then every write to them has to be journaled as well. */
  covers(row: number, count: number): boolean {
    return this.#rows.some((range) => range.row < row + count && row < range.end);
  }

  /**
   * Resolves when the record survives a crash. The caller then writes the blocks and calls `finish`. When it resolves
   * with an error, a replay would find the record but the disk is too full for all its copies: the blocks must not be
   * written before `complete`, and the caller defers them.
   */
  append(writes: readonly ShardWrite[]): Promise<StorageError | undefined> {
    assert.ok(recordBytes(writes) <= this.recordBytesMax, 'a record fits into the journal');
    assert.ok(writes.length <= RECORD_WRITES_MAX, 'what a record writes fits into its header');
    return new Promise((resolve, reject) => {
      this.#queue.push({ writes, resolve, reject });
      if (!this.#isRunning) void this.#run();
    });
  }

  finish(): void {
    assert.ok(this.#active > 0, 'a record is finished once');
    this.#active -= 1;
    if (this.#active === 0) this.#onIdle?.();
  }

  /**
   * Writes the copies that were refused. No block is written in place before: a crash that also loses a drive would
   * leave it partial and without a record. Concurrent callers share the work: it has ended for all of them before the
   * first has applied its deferred writes and a new generation may begin.
   */
  complete(): Promise<void> {
    return this.#completer.run();
  }

  /** The membership has changed and everything is durable in place. */
  startGeneration(): void {
    this.#generation += 1;
    this.#index = 0;
    this.#position = 0;
    this.#rows = [];
    this.#isCutOff = false;
    this.#incomplete = undefined;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#queue.length > 0) {
      const batch = this.#isCutOff ? [] : this.#dequeueBatch();
      try {
        if (batch.length === 0) await this.#wrap();
        else await this.#writeBatch(batch);
      } catch (error) {
        const refused = batch.length > 0 ? batch : this.#queue.splice(0);
        for (const { reject } of refused) reject(error);
      }
    }
    this.#isRunning = false;
  }

  #dequeueBatch(): Waiting[] {
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
    if (this.#core.resyncs.deferred.size > 0) {
      throw new StorageError('no-space', `Group ${this.#core.id} has writes it found no room for; make room for them.`);
    }
    await this.#core.flushMembers();
    assert.ok(this.#active === 0, 'a generation ends when all of its records are durable in their places');
    this.startGeneration();
  }

  async #writeBatch(batch: readonly Waiting[]): Promise<void> {
    const start: Place = { position: this.#position, generation: this.#generation, index: this.#index };
    const records = batch.map(({ writes }) => {
      const record = encodeRecord(this.#identity(), writes);
      this.#index += 1;
      this.#position += record.length;
      const row = Math.min(...writes.map((write) => write.row));
      this.#rows.push({ row, end: Math.max(...writes.map((write) => write.row + write.count)) });
      return record;
    });
    try {
      await this.#writeCopies(start.position, Buffer.concat(records));
    } catch (error) {
      if (!isNoSpace(error)) throw error;
      return this.#refuse(batch, records, start, error);
    }
    this.#active += batch.length;
    for (const { resolve } of batch) resolve();
  }

  async #completeNow(): Promise<void> {
    if (this.#incomplete === undefined) return;
    await this.#writeCopies(this.#incomplete.position, this.#incomplete.content);
    this.#incomplete = undefined;
  }

  async #writeCopies(position: number, content: Buffer): Promise<void> {
    const written = new Set<Member>();
    while (written.size < COPIES) {
      if (this.#core.membership.failure !== undefined) throw this.#core.membership.failure;
      const members = this.#core.membership.readers.filter((member) => !written.has(member));
      await allDone(
        members.slice(0, COPIES - written.size).map(async (member) => {
          try {
            await member.drive.writeDurably(this.#core.layout.journalOffset + position, content);
            written.add(member);
          } catch (error) {
            this.#fail(member, error);
          }
        }),
      );
      for (const member of written) if (!member.isAlive) written.delete(member);
    }
  }

  /**
   * A write that is reported as failed must not be applied by a replay. Before the error is returned, the first of
   * these records is invalidated, which hides the following ones. Where that is refused as well, the replay decides:
   * the records it would find count as written, and reads show their blocks as they will be.
   */
  async #refuse(
    batch: readonly Waiting[],
    records: readonly Buffer[],
    start: Place,
    refusal: StorageError,
  ): Promise<void> {
    this.#isCutOff = true;
    await this.#invalidate(start);
    const found = await this.#countFound(records, start);
    if (found > 0) {
      this.#incomplete = { position: start.position, content: Buffer.concat(records.slice(0, found)) };
      this.#active += found;
    }
    for (const { resolve } of batch.slice(0, found)) resolve(refusal);
    for (const { reject } of batch.slice(found)) reject(refusal);
  }

  /** Needs no space on a disk that writes in place. Stops at the first refusal: the other copy is needed then. */
  async #invalidate(place: Place): Promise<void> {
    for (const member of this.#core.membership.readers) {
      if ((await this.#findRecord([member], place)) === undefined) continue;
      try {
        await member.drive.writeDurably(this.#core.layout.journalOffset + place.position, NO_HEADER);
      } catch (error) {
        if (isNoSpace(error)) return;
        this.#fail(member, error);
      }
    }
  }

  /** The number of these records that a replay would find. */
  async #countFound(records: readonly Buffer[], { position, generation, index }: Place): Promise<number> {
    let next = position;
    for (const [at, record] of records.entries()) {
      const place = { position: next, generation, index: index + at };
      if ((await this.#findRecord(this.#core.membership.readers, place)) === undefined) return at;
      next += record.length;
    }
    return records.length;
  }

  /** Writes the blocks of all valid records in place. Afterwards everything is in place and durable. */
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
      const record = await this.#findRecord(members, { position, generation, index });
      if (record === undefined) break;
      for (const write of record.writes) await this.#apply(write);
      position += record.bytes;
    }
    if (index > 0) await this.#core.flushMembers();
    this.startGeneration();
    return index;
  }

  async #findRecord(
    members: readonly Member[],
    { position, generation, index }: Place,
  ): Promise<{ readonly writes: ShardWrite[]; readonly bytes: number } | undefined> {
    const { events } = this.#core.membership;
    for (const member of members) {
      const header = await this.#readHeader(member, position);
      if (header?.events !== events) continue;
      if (header.generation !== generation || header.index !== index) continue;
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
