import type { Socket } from 'node:net';
import type { AdmittedConnection } from '@granary/kernel/edge';
import { receiveInPlace } from '../../sockets/receive-buffer.ts';
import type { NfsEvent } from '../events.ts';
import { recordBytesMax, type Limits } from '../limits.ts';
import { XdrError } from '../xdr/reader.ts';
import type { BufferPool } from './buffer-pool.ts';
import type { Dispatcher } from './dispatcher.ts';
import { RecordError, RecordReader } from './record-reader.ts';
import { ReplyOutput } from './reply-output.ts';
import type { RequestBudget } from './request-budget.ts';

/** Next to its bytes, what a request costs while it is under way. */
const REQUEST_BYTES = 1024;
/** Each connection has a buffer of this size; most of it is never touched. */
const RECEIVE_BYTES = 128 * 1024;

export interface ConnectionHost {
  readonly limits: Limits;
  readonly dispatcher: Dispatcher;
  readonly budget: RequestBudget;
  readonly buffers: BufferPool;
  /** Whether any export is for this address. */
  isKnown(address: string): boolean;
  closed(connection: RpcConnection): void;
  report(event: NfsEvent): void;
  now(): number;
}

/** One TCP connection: requests are answered side by side, each as soon as its reply is there. */
export class RpcConnection {
  readonly address: string;
  readonly #socket: Socket;
  readonly #host: ConnectionHost;
  readonly #place: AdmittedConnection;
  readonly #records: RecordReader;
  readonly #output: ReplyOutput;
  readonly #resume = () => this.#readOn();
  /** Whether any export is for the client; looked at now and then. */
  #isKnown: boolean | undefined;
  #inFlight = 0;
  /** Records of the chunk at hand that wait for requests before them. */
  #queue: Buffer[] = [];
  #withinSince: number | undefined;
  #ending = false;
  #stopped = false;
  #endingReason = 'the client closed the connection';
  #idle: (() => void)[] = [];

  constructor(accepted: Socket, host: ConnectionHost, place: AdmittedConnection) {
    const socket = receiveInPlace(accepted, RECEIVE_BYTES, (chunk) => this.#data(chunk));
    this.#socket = socket;
    this.#host = host;
    this.#place = place;
    this.#output = new ReplyOutput(socket, host.budget, host.buffers, () => host.now());
    this.address = plainAddress(socket.remoteAddress ?? '');
    this.#records = new RecordReader(recordBytesMax(host.limits), (record) => this.#received(record), host.buffers);
    socket.on('drain', this.#resume);
    socket.on('error', (error) => (this.#endingReason = error.message));
    socket.on('close', () => this.#closed());
  }

  get endingReason(): string {
    return this.#endingReason;
  }

  #data(chunk: Buffer): void {
    if (this.#ending || this.#stopped) return;
    try {
      this.#records.push(chunk);
    } catch (error) {
      this.#broken(error);
      return;
    }
    this.#withinSince = this.#records.isWithin ? (this.#withinSince ?? this.#host.now()) : undefined;
    this.#holdBack();
  }

  #received(record: Buffer): void {
    this.#withinSince = undefined;
    if (this.#isFull()) this.#queue.push(record);
    else this.#serve(record);
  }

  #isFull(): boolean {
    const { limits, budget } = this.#host;
    if (this.#inFlight >= limits.requestsPerConnectionMax) return true;
    return this.#output.unsentBytes > limits.unsentBytesMax || budget.isSpent;
  }

  #serve(record: Buffer): void {
    const cost = record.length + REQUEST_BYTES;
    // A malformed record throws here, before it counts.
    const reply = this.#host.dispatcher.answer(record, { address: this.address, connection: this });
    this.#isKnown ??= this.#host.isKnown(this.address);
    this.#place.enter(this.#isKnown ? 'busy' : 'serving');
    if (Buffer.isBuffer(reply)) {
      this.#output.send(reply);
      this.#rest();
      return;
    }
    this.#inFlight += 1;
    this.#host.budget.reserve(cost);
    const done = () => {
      this.#host.buffers.release(record);
      this.#inFlight -= 1;
      this.#host.budget.release(cost);
      this.#rest();
      this.#readOn();
    };
    reply.then(
      (bytes) => {
        this.#output.send(bytes);
        done();
      },
      (error: unknown) => {
        this.#host.report({ type: 'internal-error', address: this.address, error });
        this.destroy('internal error');
        done();
      },
    );
  }

  #rest(): void {
    if (this.#inFlight > 0) return;
    this.#place.enter(this.#isKnown === true ? 'resting' : 'idle');
    const idle = this.#idle;
    this.#idle = [];
    for (const resolve of idle) resolve();
  }

  #readOn(): void {
    while (this.#queue.length > 0 && !this.#isFull() && !this.#ending) {
      try {
        this.#serve(this.#queue.shift() as Buffer);
      } catch (error) {
        this.#broken(error);
      }
    }
    this.#holdBack();
  }

  /** Reads from the wire only while what comes could be served. */
  #holdBack(): void {
    if (this.#ending || (this.#queue.length === 0 && !this.#isFull())) {
      this.#socket.resume();
      return;
    }
    this.#socket.pause();
    if (this.#host.budget.isSpent) this.#host.budget.whenFree(this.#resume);
  }

  #broken(error: unknown): void {
    if (error instanceof RecordError || error instanceof XdrError) {
      this.end(error.message);
      return;
    }
    this.#host.report({ type: 'internal-error', address: this.address, error });
    this.destroy('internal error');
  }

  /** Called now and then: a request that began must come to its end, and replies must be taken. */
  watch(): void {
    this.#isKnown = undefined;
    const { requestTimeoutMs, replyTimeoutMs } = this.#host.limits;
    const now = this.#host.now();
    if (now - (this.#output.unsentSince ?? now) > replyTimeoutMs) {
      this.destroy('the client does not take its replies');
    } else if (now - (this.#withinSince ?? now) > requestTimeoutMs && !this.#ending && !this.#socket.isPaused()) {
      this.destroy('a request took too long to arrive');
    }
  }

  /** What comes from now on is not heard. Resolves when everything under way is answered. */
  async drain(): Promise<void> {
    this.#stopped = true;
    this.#queue = [];
    if (this.#inFlight > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  end(reason: string): void {
    if (this.#ending) return;
    this.#ending = true;
    this.#endingReason = reason;
    const socket = this.#socket;
    this.#output.flush();
    socket.resume();
    socket.end();
    const timer = setTimeout(() => socket.destroy(), this.#host.limits.closeTimeoutMs);
    socket.once('close', () => clearTimeout(timer));
  }

  destroy(reason: string): void {
    if (!this.#ending) this.#endingReason = reason;
    this.#ending = true;
    this.#socket.destroy();
  }

  #closed(): void {
    this.#ending = true;
    this.#queue = [];
    this.#host.budget.drop(this.#resume);
    this.#place.leave();
    this.#host.closed(this);
  }
}

function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
