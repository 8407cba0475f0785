import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';

/**
 * A client that calls an array over a connection of its own, one request after the other. Written to cost little: a client that
 * calls runs on the same two processors as the array, and a general client takes as long for a request as the array.
 */
export class Caller {
  readonly #socket: Socket;
  readonly #head: string;
  #received = '';
  #waiting: PromiseWithResolvers<string> | undefined;

  static async connect(url: string, accessKey: string): Promise<Caller> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    return new Caller(socket, `host: ${hostname}:${port}\r\nx-access-key: ${accessKey}\r\n`);
  }

  private constructor(socket: Socket, head: string) {
    this.#socket = socket;
    this.#head = `${head}content-type: application/json\r\n`;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.#receive(text));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('The array closed the connection.')));
  }

  /** Resolves when the array has said that it is done; anything else is an error. */
  async post(path: string, params: Readonly<Record<string, unknown>>): Promise<void> {
    const body = JSON.stringify(params);
    this.#waiting = Promise.withResolvers();
    this.#socket.write(
      `POST /api${path} HTTP/1.1\r\n${this.#head}content-length: ${Buffer.byteLength(body)}${HEAD_END}${body}`,
    );
    const answer = await this.#waiting.promise;
    const [head = '', reported = ''] = answer.split(HEAD_END);
    const { response } = JSON.parse(reported) as { response?: { status?: number } };
    if (!head.startsWith('HTTP/1.1 200 ') || response?.status !== 0) throw new Error(`${path}: ${answer}`);
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd === -1) return;
    const length = Number(/content-length: (\d+)/i.exec(this.#received)?.[1]);
    const end = headEnd + HEAD_END.length + length;
    if (this.#received.length < end) return;
    const answer = this.#received.slice(0, end);
    this.#received = this.#received.slice(end);
    this.#waiting?.resolve(answer);
  }
}
