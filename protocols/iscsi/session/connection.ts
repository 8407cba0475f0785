import type { Socket } from 'node:net';
import type { AdmittedConnection } from '@granary/kernel/edge';
import type { IscsiEvent } from '../events.ts';
import type { Limits } from '../limits.ts';
import { LoginExchange, type Doorkeeper, type LoginReply, type LoginResult } from '../login/exchange.ts';
import { portalAddress } from '../login/discovery.ts';
import { LoginRefused, LoginStatus } from '../login/status.ts';
import { FrameFormat } from '../pdu/frame.ts';
import { HEADER_BYTES, InitiatorOpcode, TargetOpcode } from '../pdu/opcodes.ts';
import { ProtocolError, PduReceiver, type PduSink } from '../pdu/receiver.ts';
import { Output } from './output.ts';
import { receiveInPlace } from '../../sockets/receive-buffer.ts';
import type { IscsiSession, SessionLink } from './session.ts';

/** The longest data segment taken during login. */
const LOGIN_SEGMENT_BYTES_MAX = 16 * 1024;
const OPCODE_MASK = 0x3f;
const RECEIVE_BYTES = 512 * 1024;

export interface OpenedSession {
  readonly session: IscsiSession;
  /** An older session of the same initiator that has to end first. */
  readonly ready: Promise<void> | undefined;
}

export interface ConnectionHost {
  readonly limits: Limits;
  doorkeeper(address: string): Doorkeeper;
  /** Throws `LoginRefused` when there is no room. */
  openSession(login: LoginResult, connection: IscsiConnection, statusNumber: number): OpenedSession;
  closed(connection: IscsiConnection): void;
  report(event: IscsiEvent): void;
  now(): number;
}

/** One TCP connection: first the login, then the session it leads to. */
export class IscsiConnection implements PduSink, SessionLink {
  readonly output: Output;
  readonly format = new FrameFormat();
  readonly address: string;
  readonly #socket: Socket;
  readonly #host: ConnectionHost;
  readonly #place: AdmittedConnection;
  readonly #receiver: PduReceiver;
  readonly #since: number;
  #login: LoginExchange | undefined;
  #session: IscsiSession | undefined;
  /** The login is over and its last response sent. */
  #ready = false;
  #statusNumber = 0;
  #lastHeard: number;
  #pinged = false;
  #ending = false;
  #endingReason = 'the initiator closed the connection';

  constructor(accepted: Socket, host: ConnectionHost, place: AdmittedConnection) {
    this.#host = host;
    this.#place = place;
    const socket = receiveInPlace(accepted, RECEIVE_BYTES, (chunk) => this.#received(chunk));
    this.#socket = socket;
    this.address = socket.remoteAddress ?? '';
    this.output = new Output(socket);
    this.#receiver = new PduReceiver(this, this.format, LOGIN_SEGMENT_BYTES_MAX);
    this.#login = new LoginExchange(host.doorkeeper(this.address));
    this.#since = this.#lastHeard = host.now();
    socket.on('drain', () => {
      if (!this.#ending) socket.resume();
    });
    socket.on('error', (error) => (this.#endingReason = error.message));
    socket.on('close', () => this.#closed());
  }

  get session(): IscsiSession | undefined {
    return this.#session;
  }

  get endingReason(): string {
    return this.#endingReason;
  }

  /** The address the initiator reached us at. */
  get portal(): string {
    return portalAddress(this.#socket.localAddress ?? '', this.#socket.localPort ?? 0);
  }

  #received(chunk: Buffer): void {
    if (this.#ending) return;
    this.#lastHeard = this.#host.now();
    this.#pinged = false;
    try {
      this.#receiver.push(chunk);
    } catch (error) {
      if (error instanceof ProtocolError) this.end(error.message);
      else this.fail(error);
    }
    this.output.flush();
    if (this.output.unsentBytes > this.#host.limits.unsentBytesMax) this.#socket.pause();
  }

  /** Something went wrong that is not the initiator's fault. */
  fail(error: unknown): void {
    this.#host.report({ type: 'internal-error', address: this.address, error });
    this.destroy('internal error');
  }

  destination(header: Buffer, dataLength: number): Buffer | undefined {
    return this.#ready ? this.#session?.destination(header, dataLength) : undefined;
  }

  pdu(header: Buffer, data: Buffer): void {
    if (this.#login !== undefined) this.#loginRequest(this.#login, header, data);
    else if (this.#session !== undefined && this.#ready) this.#session.pdu(header, data);
    else throw new ProtocolError('the login is not over yet');
  }

  #loginRequest(login: LoginExchange, header: Buffer, data: Buffer): void {
    if (((header[0] ?? 0) & OPCODE_MASK) !== InitiatorOpcode.login) throw new ProtocolError('no login to begin with');
    try {
      const reply = login.handle(header, data);
      if (reply.result === undefined) this.#loginResponse(header, reply, 0, LoginStatus.success);
      else this.#open(reply, reply.result, Buffer.from(header.subarray(0, HEADER_BYTES)));
    } catch (error) {
      if (!(error instanceof LoginRefused)) throw error;
      const initiator = login.initiatorName;
      this.#host.report({ type: 'login-refused', address: this.address, initiator, reason: error.message });
      this.#loginResponse(header, { flags: (header[1] ?? 0) & 0x0c, text: Buffer.alloc(0) }, 0, error.status);
      this.end('the login was refused');
    }
  }

  #open(reply: LoginReply, result: LoginResult, header: Buffer): void {
    const { session, ready } = this.#host.openSession(result, this, (this.#statusNumber + 1) >>> 0);
    this.#login = undefined;
    this.#session = session;
    const begin = () => {
      if (this.#ending) return;
      this.#ready = true;
      this.#loginResponse(header, reply, session.handle, LoginStatus.success);
      this.format.headerDigest = result.parameters.headerDigest;
      this.format.dataDigest = result.parameters.dataDigest;
      this.#receiver.dataLengthMax = this.#host.limits.dataSegmentBytesMax;
      const { initiatorName: initiator, targetName: target } = result;
      // A session for discovery needs no proof and serves no disk, so it may be dropped for others.
      this.#place.enter(target === undefined ? 'idle' : 'held');
      this.#host.report({ type: 'login', address: this.address, initiator, target, label: session.label });
    };
    if (ready === undefined) begin();
    else ready.then(begin, begin);
  }

  #loginResponse(header: Buffer, reply: LoginReply, handle: number, status: number): void {
    const { text } = reply;
    const at = this.output.reserve(this.format.frameBytes(text.length));
    const { page } = this.output;
    page.fill(0, at, at + HEADER_BYTES);
    page[at] = TargetOpcode.loginResponse;
    page[at + 1] = reply.flags;
    header.copy(page, at + 8, 8, 16);
    if (handle !== 0) page.writeUInt16BE(handle, at + 14);
    header.copy(page, at + 16, 16, 20);
    page.writeUInt32BE(this.#statusNumber, at + 24);
    this.#statusNumber = (this.#statusNumber + 1) >>> 0;
    const commandNumber = header.readUInt32BE(24);
    page.writeUInt32BE(commandNumber, at + 28);
    page.writeUInt32BE((commandNumber + this.#host.limits.queueDepth - 1) >>> 0, at + 32);
    page.writeUInt16BE(status, at + 36);
    text.copy(page, at + this.format.dataOffset);
    this.format.seal(page, at, text.length);
  }

  /** Called now and then: logins must come to an end, and who is silent for long must show that it is there. */
  watch(): void {
    const { limits } = this.#host;
    const now = this.#host.now();
    if (this.#session === undefined || !this.#ready) {
      if (now - this.#since > limits.loginTimeoutMs) this.destroy('the login took too long');
      return;
    }
    const silence = now - this.#lastHeard;
    if (silence > limits.pingAfterMs + limits.pingTimeoutMs) {
      this.destroy('the initiator does not answer');
    } else if (silence > limits.pingAfterMs && !this.#pinged) {
      this.#pinged = true;
      this.#session.ping();
    }
  }

  /** What is under way is answered still; what comes now is taken off the wire and not heard. */
  stopListening(): void {
    this.#receiver.stop();
  }

  end(reason: string): void {
    if (this.#ending) return;
    this.#ending = true;
    this.#endingReason = reason;
    this.#receiver.stop();
    this.output.flush();
    const socket = this.#socket;
    socket.resume();
    socket.end();
    const timer = setTimeout(() => socket.destroy(), this.#host.limits.closeTimeoutMs);
    socket.once('close', () => clearTimeout(timer));
  }

  destroy(reason: string): void {
    if (!this.#ending) this.#endingReason = reason;
    this.#ending = true;
    this.#receiver.stop();
    this.#socket.destroy();
  }

  #closed(): void {
    this.#ending = true;
    this.#receiver.stop();
    this.#place.leave();
    this.#host.closed(this);
  }
}
