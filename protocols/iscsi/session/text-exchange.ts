import type { Limits } from '../limits.ts';
import { negotiate, type SessionParameters } from '../login/parameters.ts';
import { decodeText, encodeText, type TextPairs } from '../login/text.ts';
import { CONTINUE, FINAL, RESERVED_TAG } from '../pdu/opcodes.ts';
import { ProtocolError } from '../pdu/receiver.ts';
import type { Responder } from './responder.ts';

const TRANSFER_TAG = 1;

/** What SendTargets may show on this session: every target there is for the initiator, or the one it names. */
export type TargetLister = (name: string | undefined) => Buffer;

/** Text requests in full-feature phase (RFC 7143, section 11.10). Answers too long for one PDU are sent piece by piece. */
export class TextExchange {
  readonly #responder: Responder;
  readonly #parameters: SessionParameters;
  readonly #limits: Limits;
  readonly #list: TargetLister;
  #rest: Buffer | undefined;
  #asked: Buffer[] = [];
  #askedBytes = 0;

  constructor(responder: Responder, parameters: SessionParameters, limits: Limits, list: TargetLister) {
    this.#responder = responder;
    this.#parameters = parameters;
    this.#limits = limits;
    this.#list = list;
  }

  handle(header: Buffer, data: Buffer): void {
    const tag = header.readUInt32BE(16);
    const transferTag = header.readUInt32BE(20);
    if (transferTag !== RESERVED_TAG && this.#rest !== undefined && data.length === 0) {
      this.#send(tag, this.#rest);
      return;
    }
    this.#rest = undefined;
    this.#askedBytes += data.length;
    if (this.#askedBytes > this.#limits.loginTextBytesMax) throw new ProtocolError('a request has too much text');
    // An empty piece adds nothing, and pieces would otherwise pile up without end.
    if (data.length > 0) this.#asked.push(Buffer.from(data));
    if (((header[1] ?? 0) & CONTINUE) !== 0) {
      this.#responder.textResponse(tag, 0, TRANSFER_TAG, Buffer.alloc(0));
      return;
    }
    const pairs = decodeText(Buffer.concat(this.#asked));
    this.#asked = [];
    this.#askedBytes = 0;
    this.#send(tag, this.#answer(pairs));
  }

  #answer(pairs: TextPairs): Buffer {
    const replies: Buffer[] = [];
    for (const [key, value] of pairs) {
      if (key === 'SendTargets') {
        replies.push(this.#list(value === 'All' ? undefined : value));
        continue;
      }
      // All else was settled at login; only the size of what the initiator takes may change.
      const answer =
        key === 'MaxRecvDataSegmentLength' ? negotiate(key, value, this.#parameters, this.#limits) : 'Reject';
      if (answer !== undefined) replies.push(encodeText([[key, answer]]));
    }
    return Buffer.concat(replies);
  }

  #send(tag: number, text: Buffer): void {
    const room = this.#parameters.initiatorDataSegmentBytes;
    if (text.length <= room) {
      this.#rest = undefined;
      this.#responder.textResponse(tag, FINAL, RESERVED_TAG, text);
      return;
    }
    this.#rest = text.subarray(room);
    this.#responder.textResponse(tag, CONTINUE, TRANSFER_TAG, text.subarray(0, room));
  }
}
