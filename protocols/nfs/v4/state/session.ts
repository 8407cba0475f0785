import { randomBytes } from 'node:crypto';
import type { Client4 } from './client.ts';

/** What a channel can carry, as both sides agreed. */
export interface ChannelLimits {
  readonly headerPadding: number;
  readonly requestBytesMax: number;
  readonly replyBytesMax: number;
  readonly cachedBytesMax: number;
  readonly operationsMax: number;
  readonly requestsMax: number;
}

export interface Slot {
  sequence: number;
  isBusy: boolean;
  /** The reply to the last request, from the status of the compound on; undefined if it was not to be kept. */
  reply: Buffer | undefined;
}

/** All replies that sessions keep share one bound. */
export class ReplyStore {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  hasRoomFor(bytes: number): boolean {
    return this.#bytes + bytes <= this.#bytesMax;
  }

  replace(slot: Slot, reply: Buffer | undefined): void {
    this.#bytes += (reply?.length ?? 0) - (slot.reply?.length ?? 0);
    slot.reply = reply;
  }
}

/** Requests of a session have slots: in each, one at a time, numbered, with the last reply kept. So nothing is done twice. */
export class NfsSession {
  readonly id: Buffer;
  readonly client: Client4;
  readonly limits: ChannelLimits;
  readonly slots: readonly Slot[];

  constructor(client: Client4, limits: ChannelLimits) {
    this.id = randomBytes(16);
    this.client = client;
    this.limits = limits;
    this.slots = Array.from({ length: limits.requestsMax }, () => ({ sequence: 0, isBusy: false, reply: undefined }));
  }
}
