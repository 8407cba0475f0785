import { isNoSpace } from '../../errors.ts';
import { BLOCK_BYTES } from '../../units.ts';
import type { Refusal } from './checksum-page.ts';
import { encodePage } from './checksum-page-format.ts';
import { checksumPageOffset } from '../layout.ts';
import type { Layout } from '../layout.ts';
import type { FailMember, Member, MemberPage } from '../members/member.ts';

/** The state of a page before it was written, restored when the disk is full. */
interface Before {
  readonly hasFirstWrites: boolean;
  readonly generation: number;
}

/** Writes changed checksum pages to the drives. */
export class ChecksumWriter {
  readonly #layout: Layout;
  readonly #fail: FailMember;
  /** For pages whose write completes synchronously. */
  #scratch = Buffer.allocUnsafeSlow(BLOCK_BYTES);

  constructor(layout: Layout, fail: FailMember) {
    this.#layout = layout;
    this.#fail = fail;
  }

  /**
   * Writes the changed pages of a member and waits for page writes in flight. The checksum of a block that had none
   * must not reach the drive before its data: after a crash, stale bytes, perhaps of another owner, could match it.
   * Pages that a full disk refuses stay dirty, and the error is thrown.
   */
  async writeBack(member: Member): Promise<void> {
    const pages = [...member.pages.values()];
    const flushing = pages.some((page) => page.hasFirstWrites) ? this.#flushData(member) : undefined;
    const writes: Promise<Refusal>[] = [];
    for (const page of pages) {
      const writing = page.isDirty ? this.#write(page, flushing) : page.writing;
      if (writing !== undefined) writes.push(writing);
    }
    await flushing;
    const refusal = (await Promise.all(writes)).find((result) => result !== undefined);
    if (refusal !== undefined) throw refusal;
  }

  /** Undefined when the write is done already. `after` is a condition of the same member that the write waits for. */
  #write(page: MemberPage, after: Promise<void> | undefined): Promise<Refusal> | undefined {
    const before: Before = { hasFirstWrites: page.hasFirstWrites, generation: page.generation };
    page.isDirty = false;
    page.hasFirstWrites = false;
    const { writing: running } = page;
    if (running === undefined && after === undefined) return this.#writeAtOnce(page, before);
    // A copy: the page keeps changing and may receive checksums of data that is not durable.
    const content = this.#encode(page, Buffer.allocUnsafeSlow(BLOCK_BYTES));
    return this.#watch(page, before, this.#writeAfter(page, content, [running, after]));
  }

  #writeAtOnce(page: MemberPage, before: Before): Promise<Refusal> | undefined {
    const { member, region } = page;
    if (isGone(member)) return undefined;
    const content = this.#encode(page, this.#scratch);
    let done: Promise<void> | undefined;
    try {
      done = member.drive.write(checksumPageOffset(this.#layout, region), content);
    } catch (error) {
      return this.#watch(page, before, Promise.resolve(this.#refusalOf(member, error)));
    }
    if (done === undefined) return undefined;
    this.#scratch = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    return this.#watch(page, before, this.#refusalAfter(member, done));
  }

  async #writeAfter(
    { member, region }: MemberPage,
    content: Buffer,
    conditions: readonly (Promise<unknown> | undefined)[],
  ): Promise<Refusal> {
    for (const condition of conditions) await condition;
    if (isGone(member)) return undefined;
    const write = async () => member.drive.write(checksumPageOffset(this.#layout, region), content);
    return this.#refusalAfter(member, write());
  }

  async #refusalAfter(member: Member, done: Promise<void>): Promise<Refusal> {
    try {
      await done;
      return undefined;
    } catch (error) {
      return this.#refusalOf(member, error);
    }
  }

  #refusalOf(member: Member, error: unknown): Refusal {
    if (isNoSpace(error)) return error;
    this.#fail(member, error);
    return undefined;
  }

  #watch(page: MemberPage, before: Before, outcome: Promise<Refusal>): Promise<Refusal> {
    const writing = outcome.then((refusal) => {
      if (page.writing === writing) page.writing = undefined;
      if (refusal === undefined) return undefined;
      page.isDirty = true;
      page.hasFirstWrites ||= before.hasFirstWrites;
      page.generation = before.generation;
      return refusal;
    });
    page.writing = writing;
    return writing;
  }

  #encode(page: MemberPage, into: Buffer): Buffer {
    const { entries, owner, generations, member } = page;
    if (generations === undefined) {
      into.set(new Uint8Array(entries.buffer, entries.byteOffset, BLOCK_BYTES));
      return into;
    }
    page.generation = generations.latest[member.slot] as number;
    return encodePage(entries, owner, generations.latest, into);
  }

  async #flushData(member: Member): Promise<void> {
    try {
      await member.drive.flush();
    } catch (error) {
      this.#fail(member, error);
    }
  }
}

/** Evaluated again after every wait. */
function isGone(member: Member): boolean {
  return !member.isAlive;
}
