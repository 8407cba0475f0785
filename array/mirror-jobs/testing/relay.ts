import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** A cable between two arrays that can be cut, and counts what went through it. */
export class Relay {
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #isCut = false;
  #bytes = 0;
  #cutAt = Infinity;
  #isMute = false;
  #waiting: { readonly at: number; readonly reached: () => void } | undefined;

  static async to(t: TestContext, host: string, port: number): Promise<Relay> {
    const relay = new Relay(host, port);
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    t.after(() => {
      relay.cut();
      relay.#server.close();
    });
    return relay;
  }

  private constructor(host: string, port: number) {
    this.#server = createServer((near) => {
      if (this.#isCut) {
        near.destroy();
        return;
      }
      const far = connect(port, host);
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#open.add(one);
        one.on('error', () => other.destroy());
        one.on('close', () => {
          this.#open.delete(one);
          other.destroy();
        });
      }
      far.on('data', (chunk: Buffer) => {
        if (this.#isMute) this.cut();
        else if (!near.write(chunk)) {
          far.pause();
          near.once('drain', () => far.resume());
        }
      });
      near.on('data', (chunk: Buffer) => {
        this.#bytes += chunk.length;
        if (this.#bytes >= this.#cutAt) this.cut();
        else if (!far.write(chunk)) {
          near.pause();
          far.once('drain', () => near.resume());
        }
        if (this.#bytes >= (this.#waiting?.at ?? Infinity)) this.#waiting?.reached();
      });
    });
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Went from the source to the destination, ever. */
  get bytes(): number {
    return this.#bytes;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  cut(): void {
    this.#isCut = true;
    this.#cutAt = Infinity;
    for (const socket of this.#open) socket.destroy();
  }

  cutAfter(bytes: number): void {
    this.#cutAt = this.#bytes + bytes;
  }

  /** As soon as this number of bytes went through, usually in the middle of a request. */
  reached(bytes: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = { at: bytes, reached: resolve };
      if (this.#bytes >= bytes) resolve();
    });
  }

  /** At the next answer, so that the request is done but its answer is lost. */
  cutAtAnswer(): void {
    this.#isMute = true;
  }

  mend(): void {
    this.#isCut = false;
    this.#isMute = false;
  }
}
