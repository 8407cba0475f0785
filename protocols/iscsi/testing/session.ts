import { Channel } from './channel.ts';
import type { InitiatorConnection } from './connection.ts';
import { InitiatorProtocolError, SessionClosedError } from './errors.ts';
import type { LoginResult } from './login.ts';
import { Lun } from './lun.ts';
import type { SessionParameters } from './parameters.ts';
import type { AsyncMessage, UnitAttention } from './reports.ts';
import { decodeText, encodeText } from './text.ts';
import { fields, FINAL, get32, NO_TAG, opcodes, put32, putLun, taskManagement } from './wire.ts';

const TEXT_ROUNDS_MAX = 1000;
const CONTINUE = 0x40;

/** A session of one connection. */
export class InitiatorSession {
  readonly parameters: SessionParameters;
  /** What the target answered during login, as it wrote it. */
  readonly answers: ReadonlyMap<string, string>;
  readonly sessionHandle: number;
  readonly #connection: InitiatorConnection;
  readonly #channel: Channel;

  constructor(connection: InitiatorConnection, login: LoginResult, timeoutMs: number) {
    this.#connection = connection;
    this.#channel = new Channel(connection, login, timeoutMs);
    this.parameters = login.parameters;
    this.answers = login.answers;
    this.sessionHandle = login.sessionHandle;
  }

  lun(number: number, blockBytes = 512): Lun {
    return new Lun(this, this.#channel, number, blockBytes);
  }

  get isOpen(): boolean {
    return this.#channel.isOpen;
  }

  /** How many more commands the target would take right now. */
  get window(): number {
    return this.#channel.window;
  }

  /** Asynchronous messages of logical units, oldest first; the last hundred. */
  get unitAttentions(): readonly UnitAttention[] {
    return this.#channel.unitAttentions;
  }

  get asyncMessages(): readonly AsyncMessage[] {
    return this.#channel.asyncMessages;
  }

  /** NOP-Out; resolves when the target has sent the same bytes back. */
  async ping(data: Buffer = Buffer.alloc(0)): Promise<void> {
    const answer = await this.#channel.exchange(opcodes.nopOut, () => undefined, data);
    if (!answer.data.equals(data))
      throw new InitiatorProtocolError('The target did not send back what it was pinged with');
  }

  /** A text request; answers that come in parts are put together. */
  async text(keys: Readonly<Record<string, string>>): Promise<(readonly [string, string])[]> {
    const parts: Buffer[] = [];
    let data = encodeText(Object.entries(keys));
    let transferTag = NO_TAG;
    for (let round = 0; round < TEXT_ROUNDS_MAX; round += 1) {
      const tag = transferTag;
      const answer = await this.#channel.exchange(
        opcodes.text,
        (header) => put32(header, fields.transferTag, tag),
        data,
      );
      parts.push(answer.data);
      const flags = answer.header[1] as number;
      transferTag = get32(answer.header, fields.transferTag);
      if ((flags & FINAL) !== 0) return decodeText(Buffer.concat(parts));
      if ((flags & CONTINUE) === 0)
        throw new InitiatorProtocolError('A text answer that is neither final nor to be continued');
      data = Buffer.alloc(0);
    }
    throw new InitiatorProtocolError(`A text answer of more than ${TEXT_ROUNDS_MAX} parts`);
  }

  /** Task management. Returns the target's response code: 0 is done. What it ended is rejected with `AbortedError`. */
  async manage(action: number, lun: number, referencedTag = NO_TAG): Promise<number> {
    const referenced = this.#channel.find(referencedTag);
    const before = this.#channel.commandSn;
    const { header } = await this.#channel.exchange(opcodes.taskManagement, (request) => {
      request[1] = FINAL | action;
      putLun(request, fields.lun, lun);
      put32(request, 20, referencedTag);
      put32(request, 32, referenced?.commandSn ?? 0);
    });
    const response = header[2] as number;
    if (response !== 0) return response;
    this.#channel.abort(before, (task) => {
      if (action === taskManagement.abortTask) return task.tag === referencedTag;
      return task.lun === lun || action >= taskManagement.targetWarmReset;
    });
    return response;
  }

  /** Logs out and closes the connection. */
  async close(): Promise<void> {
    if (!this.#channel.isOpen) return;
    try {
      const { header } = await this.#channel.exchange(opcodes.logout, (request) => put32(request, 20, 0));
      if (header[2] !== 0) throw new InitiatorProtocolError(`The target answered the logout with ${header[2] ?? 0}`);
    } finally {
      await this.#connection.end(new SessionClosedError('The session was closed'));
    }
  }

  /** Drops the connection without a word, as a crash would. */
  destroy(): void {
    this.#connection.destroy(new SessionClosedError('The session was dropped'));
  }
}
