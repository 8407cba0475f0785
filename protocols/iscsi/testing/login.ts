import { Chap, type ChapCredentials } from './chap.ts';
import type { InitiatorConnection } from './connection.ts';
import { LoginError, InitiatorProtocolError } from './errors.ts';
import { agreedParameters, type Keys, type SessionParameters } from './parameters.ts';
import type { PduSink, Reader } from './reader.ts';
import { decodeText, encodeText } from './text.ts';
import { fields, FINAL, get32, IMMEDIATE, opcodes, put32 } from './wire.ts';

const ROUNDS_MAX = 16;
const TEXT_BYTES_MAX = 64 * 1024;
const CONTINUE = 0x40;
const SECURITY = 0;
const OPERATIONAL = 1;
const FULL_FEATURE = 3;
const LOGIN_TAG = 1;
const FIRST_COMMAND_SN = 1;

export interface LoginRequest {
  /** Who we are and whom we want: sent first. */
  readonly identity: Keys;
  readonly offered: Keys;
  readonly isid: Buffer;
  readonly connectionId: number;
  readonly chap: ChapCredentials | undefined;
  /** Starts with the operational stage, as one may where no sign-in is asked for. */
  readonly withoutSecurityStage: boolean;
  readonly toleratesLongBursts: boolean;
}

export interface LoginResult {
  readonly parameters: SessionParameters;
  readonly answers: ReadonlyMap<string, string>;
  readonly sessionHandle: number;
  readonly commandSn: number;
  readonly commandSnMax: number;
  readonly expectedStatusSn: number;
}

type Step = 'identity' | 'algorithm' | 'proof' | 'operational';

/**
 * The login phase. Works inside the reader's call, not by promises, for digests begin with the very next byte after
 * the last answer.
 */
export class Login implements PduSink {
  readonly #connection: InitiatorConnection;
  readonly #request: LoginRequest;
  readonly #done: (result: LoginResult) => void;
  readonly #chap: Chap | undefined;
  readonly #answers = new Map<string, string>();
  #step: Step = 'identity';
  #rounds = 0;
  #text: Buffer[] = [];
  #statusSn: number | undefined;

  constructor(connection: InitiatorConnection, request: LoginRequest, done: (result: LoginResult) => void) {
    this.#connection = connection;
    this.#request = request;
    this.#done = done;
    this.#chap = request.chap === undefined ? undefined : new Chap(request.chap);
    connection.reader.sink = this;
  }

  start(): void {
    const { identity, offered, withoutSecurityStage } = this.#request;
    if (withoutSecurityStage) {
      this.#step = 'operational';
      this.#send({ ...identity, ...offered }, FULL_FEATURE);
    } else if (this.#chap === undefined) {
      this.#send({ ...identity, AuthMethod: 'None' }, OPERATIONAL);
    } else {
      this.#send({ ...identity, AuthMethod: 'CHAP' });
    }
  }

  place(): void {
    // Text goes to the reader's scratch.
  }

  received(header: Buffer, length: number, reader: Reader): void {
    this.#check(header);
    if (length > 0) this.#text.push(Buffer.from(reader.scratch.subarray(0, length)));
    if (this.#text.reduce((sum, part) => sum + part.length, 0) > TEXT_BYTES_MAX) {
      throw new InitiatorProtocolError('The target answers the login with more text than anyone needs');
    }
    const flags = header[1] as number;
    if ((flags & CONTINUE) !== 0) {
      this.#send({});
      return;
    }
    const answers = new Map(decodeText(Buffer.concat(this.#text)));
    this.#text = [];
    for (const [key, value] of answers) this.#answers.set(key, value);
    if (header[36] !== 0) throw new LoginError(header[36] as number, header[37] as number, this.#answers);
    const next = (flags & FINAL) === 0 ? undefined : flags & 3;
    this.#advance(answers, next, header);
  }

  #check(header: Buffer): void {
    const opcode = (header[0] as number) & 0x3f;
    if (opcode !== opcodes.loginResponse) {
      throw new InitiatorProtocolError(`The target answered the login with opcode 0x${opcode.toString(16)}`);
    }
    const statusSn = get32(header, fields.statusSn);
    if (header[36] === 0 && this.#statusSn !== undefined && statusSn !== (this.#statusSn + 1) >>> 0) {
      throw new InitiatorProtocolError(`StatSN ${statusSn} follows ${this.#statusSn} during login`);
    }
    this.#statusSn = statusSn;
  }

  #advance(answers: ReadonlyMap<string, string>, next: number | undefined, header: Buffer): void {
    if (next === FULL_FEATURE) {
      this.#finish(header);
    } else if (this.#step === 'identity' && this.#chap !== undefined) {
      if (answers.get('AuthMethod') !== 'CHAP')
        throw new InitiatorProtocolError('The target does not want CHAP, but we do');
      this.#step = 'algorithm';
      this.#send(Object.fromEntries(this.#chap.offer()));
    } else if (this.#step === 'algorithm' && this.#chap !== undefined) {
      this.#step = 'proof';
      this.#send(Object.fromEntries(this.#chap.respond(answers)), OPERATIONAL);
    } else if (next === OPERATIONAL) {
      if (this.#step === 'proof') this.#chap?.check(answers);
      this.#step = 'operational';
      this.#send(this.#request.offered, FULL_FEATURE);
    } else {
      this.#send({}, this.#step === 'operational' ? FULL_FEATURE : OPERATIONAL);
    }
  }

  #finish(header: Buffer): void {
    if (this.#step !== 'operational')
      throw new InitiatorProtocolError('The target ended the login before it was offered to');
    const parameters = agreedParameters(this.#request.offered, this.#answers, this.#request.toleratesLongBursts);
    const { sender, reader } = this.#connection;
    sender.headerDigest = reader.headerDigest = parameters.headerDigest;
    sender.dataDigest = reader.dataDigest = parameters.dataDigest;
    this.#done({
      parameters,
      answers: this.#answers,
      sessionHandle: header.readUInt16BE(14),
      commandSn: FIRST_COMMAND_SN,
      commandSnMax: get32(header, fields.commandSnMax),
      expectedStatusSn: (get32(header, fields.statusSn) + 1) >>> 0,
    });
  }

  #send(keys: Keys, nextStage?: number): void {
    this.#rounds += 1;
    if (this.#rounds > ROUNDS_MAX) throw new InitiatorProtocolError(`The login is not over after ${ROUNDS_MAX} rounds`);
    const { sender } = this.#connection;
    const { header } = sender;
    const stage = this.#step === 'operational' ? OPERATIONAL : SECURITY;
    header.fill(0);
    header[0] = opcodes.login | IMMEDIATE;
    header[1] = (stage << 2) | (nextStage === undefined ? 0 : FINAL | nextStage);
    this.#request.isid.copy(header, 8);
    put32(header, fields.taskTag, LOGIN_TAG);
    header.writeUInt16BE(this.#request.connectionId, 20);
    put32(header, fields.commandSn, FIRST_COMMAND_SN);
    put32(header, fields.expectedStatusSn, this.#statusSn === undefined ? 0 : this.#statusSn + 1);
    sender.send(encodeText(Object.entries(keys)));
  }
}
