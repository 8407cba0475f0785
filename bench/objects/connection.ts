import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const RECEIVED_BYTES = 256 * 1024;

export interface HttpAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * One who asks over a connection of their own, one request after the other. Written to cost little: it runs on the same
 * processors as what is measured. Bodies are counted, and kept only when asked for.
 */
export class BenchConnection {
  readonly #socket: Socket;
  #waiting: PromiseWithResolvers<Buffer> | undefined;
  #head: Buffer = Buffer.alloc(0);
  /** Of the body, that have not come yet; -1 while the head has not ended. */
  #missing = -1;
  #kept: Buffer[] | undefined;
  #status = '';

  static async connect({ host, port }: HttpAddress): Promise<BenchConnection> {
    const buffer = Buffer.allocUnsafeSlow(RECEIVED_BYTES);
    const onread = { buffer, callback: (length: number): boolean => connection.#receive(buffer.subarray(0, length)) };
    const socket: Socket = connect({ host, port, noDelay: true, onread });
    const connection: BenchConnection = new BenchConnection(socket);
    await once(socket, 'connect');
    return connection;
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    const lost = (error?: unknown) =>
      this.#waiting?.reject(error instanceof Error ? error : new Error('The connection was closed.'));
    socket.on('error', lost).on('close', () => lost());
  }

  /** Resolves with the body if `keep`, else with nothing, once all of the answer is here; other answers than 2xx reject. */
  request(head: string, body: Buffer | null = null, keep = false): Promise<Buffer> {
    if (this.#socket.destroyed) return Promise.reject(new Error('The connection was closed.'));
    const waiting = Promise.withResolvers<Buffer>();
    this.#waiting = waiting;
    this.#kept = keep ? [] : undefined;
    if (body === null) this.#socket.write(head, 'latin1');
    else {
      this.#socket.cork();
      this.#socket.write(head, 'latin1');
      this.#socket.write(body);
      this.#socket.uncork();
    }
    return waiting.promise;
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(bytes: Buffer): boolean {
    if (this.#missing >= 0) this.#receiveBody(bytes);
    else {
      const head = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes]);
      const end = head.indexOf(HEAD_END);
      if (end === -1) this.#head = Buffer.from(head);
      else this.#receiveHead(head, end);
    }
    return true;
  }

  #receiveHead(bytes: Buffer, end: number): void {
    const head = bytes.toString('latin1', 0, end);
    this.#head = Buffer.alloc(0);
    this.#status = head.slice(9, 12);
    this.#missing = Number(/\r\ncontent-length: ?(\d+)/i.exec(head)?.[1] ?? 0);
    // What went wrong stands in the body.
    if (!this.#status.startsWith('2')) this.#kept ??= [];
    this.#receiveBody(bytes.subarray(end + HEAD_END.length));
  }

  #receiveBody(bytes: Buffer): void {
    this.#missing -= bytes.length;
    this.#kept?.push(Buffer.from(bytes));
    if (this.#missing > 0) return;
    const body = this.#kept ? Buffer.concat(this.#kept) : bytes;
    const waiting = this.#waiting;
    this.#missing = -1;
    this.#waiting = undefined;
    if (this.#status.startsWith('2')) waiting?.resolve(body);
    else waiting?.reject(new Error(`It answered ${this.#status}: ${body.toString().slice(0, 500)}`));
  }
}
