import type { RequestRecord } from '@granary/protocols/objects';

const DAY_MS = 86_400_000;

/** What an account moved on one day, and how often it asked. */
export interface Transfer {
  readonly account: string;
  /** UTC, days since 1970. */
  readonly day: number;
  bytesIn: number;
  bytesOut: number;
  puts: number;
  gets: number;
  deletes: number;
  others: number;
}

const AMOUNTS = ['bytesIn', 'bytesOut', 'puts', 'gets', 'deletes', 'others'] as const;
const COUNTED = { put: 'puts', get: 'gets', delete: 'deletes', other: 'others' } as const;

/** Transfers that are not on disk yet. */
export class TransferBuffer {
  #open = new Map<string, Transfer>();
  #writing = new Map<string, Transfer>();

  /** Every request counts, whatever it is about: what carries no object data has no bytes. */
  add({ account, class: what, bytesIn, bytesOut }: RequestRecord, at: number): void {
    if (account === null) return;
    const transfer = transferIn(this.#open, account, Math.floor(at / DAY_MS));
    transfer.bytesIn += bytesIn;
    transfer.bytesOut += bytesOut;
    transfer[COUNTED[what]] += 1;
  }

  /** What is to be written now, along with what could not be written before. */
  due(): Transfer[] {
    for (const { account, day, ...amounts } of this.#open.values()) {
      const transfer = transferIn(this.#writing, account, day);
      for (const name of AMOUNTS) transfer[name] += amounts[name];
    }
    this.#open = new Map();
    return [...this.#writing.values()];
  }

  /** What was due last is on disk. */
  written(): void {
    this.#writing = new Map();
  }

  drop(account: string): void {
    for (const book of [this.#open, this.#writing])
      for (const [key, transfer] of book) if (transfer.account === account) book.delete(key);
  }
}

function transferIn(buffer: Map<string, Transfer>, account: string, day: number): Transfer {
  const key = `${account} ${day}`;
  let transfer = buffer.get(key);
  if (!transfer) {
    transfer = { account, day, bytesIn: 0, bytesOut: 0, puts: 0, gets: 0, deletes: 0, others: 0 };
    buffer.set(key, transfer);
  }
  return transfer;
}
