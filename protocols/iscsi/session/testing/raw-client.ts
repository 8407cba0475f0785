import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { encodeText } from '../../login/text.ts';
import { TARGET } from './serve.ts';

export function pdu(
  opcode: number,
  flags: number,
  fill: (header: Buffer) => void,
  data: Buffer = Buffer.alloc(0),
): Buffer {
  const header = Buffer.alloc(48);
  header[0] = opcode;
  header[1] = flags;
  header.writeUIntBE(data.length, 5, 3);
  fill(header);
  return Buffer.concat([header, data, Buffer.alloc(-data.length & 3)]);
}

export function loginPdu(isid: string, ...keys: [string, string][]): Buffer {
  const text = encodeText([['InitiatorName', 'iqn.2026-01.com.example:raw'], ['TargetName', TARGET], ...keys]);
  return pdu(0x43, 0x87, (header) => header.write(isid, 8, 'hex'), text);
}

export interface CommandFields {
  readonly tag: number;
  readonly number: number;
  readonly cdb: string;
  readonly expected?: number;
  readonly data?: Buffer;
  /** Bits of the second byte; by default reading, final and simple. */
  readonly flags?: number;
}

export function commandPdu({ tag, number, cdb, expected = 0, data, flags = 0xc1 }: CommandFields): Buffer {
  const fill = (header: Buffer) => {
    header.writeUInt32BE(tag, 16);
    header.writeUInt32BE(expected, 20);
    header.writeUInt32BE(number, 24);
    header.write(cdb.replaceAll(' ', ''), 32, 'hex');
  };
  return pdu(0x01, flags, fill, data);
}

export function dataOutPdu(tag: number, transferTag: number, number: number, offset: number, data: Buffer): Buffer {
  const fill = (header: Buffer) => {
    header.writeUInt32BE(tag, 16);
    header.writeUInt32BE(transferTag, 20);
    header.writeUInt32BE(number, 36);
    header.writeUInt32BE(offset, 40);
  };
  return pdu(0x05, 0x80, fill, data);
}

/** A connection that sends what the test says, valid or not. */
export class RawClient {
  readonly socket: Socket;
  #received = Buffer.alloc(0);
  #closed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk) => (this.#received = Buffer.concat([this.#received, chunk])));
    socket.on('error', () => undefined);
    socket.on('close', () => (this.#closed = true));
  }

  static async open(port: number): Promise<RawClient> {
    const socket = connect(port, '127.0.0.1');
    const client = new RawClient(socket);
    await once(socket, 'connect');
    return client;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  send(bytes: Uint8Array): void {
    if (this.socket.writable) this.socket.write(bytes);
  }

  /** Whole PDUs that came and were not taken yet. */
  receive(): { header: Buffer; data: Buffer }[] {
    const pdus: { header: Buffer; data: Buffer }[] = [];
    for (;;) {
      const received = this.#received;
      if (received.length < 48) return pdus;
      const length = received.readUIntBE(5, 3);
      const end = 48 + length + (-length & 3);
      if (received.length < end) return pdus;
      pdus.push({ header: received.subarray(0, 48), data: received.subarray(48, 48 + length) });
      this.#received = received.subarray(end);
    }
  }
}
