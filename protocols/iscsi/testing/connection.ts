import { connect, type Socket } from 'node:net';
import { InitiatorProtocolError, SessionClosedError } from './errors.ts';
import { Reader, type PduSink } from './reader.ts';
import { Sender } from './sender.ts';

const RECEIVE_BYTES = 256 * 1024;
const CONNECT_MS_MAX = 10_000;

const noSink: PduSink = {
  place: () => undefined,
  received: () => {
    throw new InitiatorProtocolError('The target spoke before it was asked');
  },
};

/** One TCP connection: PDUs out by `sender`, PDUs in to the reader's sink. */
export class InitiatorConnection {
  readonly sender: Sender;
  readonly reader: Reader;
  readonly #socket: Socket;
  #error: Error | undefined;
  #onClosed: ((error: Error) => void) | undefined;

  static async open(host: string, port: number, receiveBytesMax: number): Promise<InitiatorConnection> {
    return new Promise((resolve, reject) => {
      const buffer = Buffer.allocUnsafeSlow(RECEIVE_BYTES);
      const onread = {
        buffer,
        callback: (length: number) => {
          connection.#push(buffer, length);
          return true;
        },
      };
      const socket = connect({ host, port, noDelay: true, onread });
      const connection = new InitiatorConnection(socket, receiveBytesMax);
      connection.onClosed = reject;
      socket.setTimeout(CONNECT_MS_MAX, () => connection.destroy(new Error(`${host}:${port} does not answer`)));
      socket.once('connect', () => {
        socket.setTimeout(0);
        resolve(connection);
      });
    });
  }

  private constructor(socket: Socket, receiveBytesMax: number) {
    this.#socket = socket;
    this.sender = new Sender(socket);
    this.reader = new Reader(noSink, receiveBytesMax);
    socket.on('error', (error) => (this.#error ??= error));
    socket.on('close', () =>
      this.#onClosed?.(this.#error ?? new SessionClosedError('The target closed the connection')),
    );
  }

  /** Called once, when the connection is gone. */
  set onClosed(listener: (error: Error) => void) {
    this.#onClosed = listener;
    if (this.#socket.destroyed) listener(this.#error ?? new SessionClosedError('The connection is closed'));
  }

  destroy(error: Error): void {
    this.#error ??= error;
    this.#socket.destroy();
  }

  /** Sends what is left, then closes; resolves when that is done. */
  async end(error: Error): Promise<void> {
    if (this.#socket.closed) return;
    const closed = new Promise((resolve) => this.#socket.once('close', resolve));
    this.#error ??= error;
    this.sender.flush();
    this.#socket.destroySoon();
    await closed;
  }

  #push(chunk: Buffer, length: number): void {
    try {
      this.reader.push(chunk, length);
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
