import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { encodeText } from './text.ts';
import { FINAL, get24, get32, HEADER_BYTES, NO_TAG, opcodes, paddingOf, put32 } from './wire.ts';

export interface Pdu {
  readonly opcode: number;
  readonly header: Buffer;
  readonly data: Buffer;
}

/** The fields of an answer; what is left out is right by itself. */
export interface Reply {
  readonly opcode: number;
  readonly flags?: number;
  readonly byte2?: number;
  readonly status?: number;
  readonly tag?: number;
  readonly transferTag?: number;
  readonly statusSn?: number;
  readonly commandSnMax?: number;
  readonly expectedCommandSn?: number;
  readonly dataSn?: number;
  readonly offset?: number;
  readonly last?: number;
  readonly data?: Buffer;
  /** The length to claim, where it is not that of the data. */
  readonly claimedLength?: number;
}

const LOGIN_ANSWERS = {
  TargetPortalGroupTag: '1',
  AuthMethod: 'None',
  InitialR2T: 'No',
  ImmediateData: 'Yes',
  MaxRecvDataSegmentLength: '8192',
  MaxBurstLength: '65536',
  FirstBurstLength: '16384',
};

/** One connection of the fake: it logs anyone in and leaves the rest to the script. */
export class FakeConnection {
  statusSn = 100;
  commandSn = 1;
  window = 32;
  readonly seen: Pdu[] = [];
  readonly #socket: Socket;
  readonly #answers: Readonly<Record<string, string>>;
  readonly #script: (pdu: Pdu, connection: FakeConnection) => void;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(socket: Socket, answers: Readonly<Record<string, string>>, script: FakeConnection['script']) {
    this.#socket = socket;
    this.#answers = { ...LOGIN_ANSWERS, ...answers };
    this.#script = script;
    socket.on('data', (chunk: Buffer) => this.#push(chunk));
    socket.on('error', () => undefined);
  }

  get script(): (pdu: Pdu, connection: FakeConnection) => void {
    return this.#script;
  }

  /** Sends an answer. Kinds that carry a status count it. */
  reply(to: Pdu, reply: Reply): void {
    const header = Buffer.alloc(HEADER_BYTES);
    const data = reply.data ?? Buffer.alloc(0);
    const carriesStatus = reply.opcode !== opcodes.readyToTransfer && reply.tag !== NO_TAG;
    const isData = reply.opcode === opcodes.dataIn && ((reply.flags ?? FINAL) & 1) === 0;
    header[0] = reply.opcode;
    header[1] = reply.flags ?? FINAL;
    header[2] = reply.byte2 ?? 0;
    header[3] = reply.status ?? 0;
    header.writeUIntBE(reply.claimedLength ?? data.length, 5, 3);
    put32(header, 16, reply.tag ?? get32(to.header, 16));
    put32(header, 20, reply.transferTag ?? NO_TAG);
    put32(header, 24, reply.statusSn ?? this.statusSn);
    put32(header, 28, reply.expectedCommandSn ?? this.commandSn);
    put32(header, 32, reply.commandSnMax ?? this.commandSn + this.window - 1);
    put32(header, 36, reply.dataSn ?? 0);
    put32(header, 40, reply.offset ?? 0);
    put32(header, 44, reply.last ?? 0);
    if (carriesStatus && !isData) this.statusSn += 1;
    this.#socket.write(Buffer.concat([header, data, Buffer.alloc(paddingOf(data.length))]));
  }

  /** Ends a command well. */
  good(to: Pdu, more: Partial<Reply> = {}): void {
    this.reply(to, { opcode: opcodes.scsiResponse, ...more });
  }

  drop(): void {
    this.#socket.destroy();
  }

  #push(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    while (this.#bytes.length >= HEADER_BYTES) {
      const length = get24(this.#bytes, 5);
      const end = HEADER_BYTES + length + paddingOf(length);
      if (this.#bytes.length < end) return;
      const header = this.#bytes.subarray(0, HEADER_BYTES);
      const data = this.#bytes.subarray(HEADER_BYTES, HEADER_BYTES + length);
      this.#bytes = this.#bytes.subarray(end);
      this.#receive({ opcode: (header[0] as number) & 0x3f, header, data });
    }
  }

  #receive(pdu: Pdu): void {
    this.seen.push(pdu);
    if (pdu.opcode === opcodes.login) {
      const operational = ((pdu.header[1] as number) & 0x0c) !== 0;
      const answers = Object.entries(this.#answers).filter(([key]) => isSecurity(key) !== operational);
      const flags = pdu.header[1] as number;
      this.reply(pdu, { opcode: opcodes.loginResponse, flags, data: encodeText(answers) });
      return;
    }
    const immediate = ((pdu.header[0] as number) & 0x40) !== 0;
    if (pdu.opcode === opcodes.scsiCommand && !immediate) this.commandSn = get32(pdu.header, 24) + 1;
    if (pdu.opcode === opcodes.logout) this.reply(pdu, { opcode: opcodes.logoutResponse });
    else this.#script(pdu, this);
  }
}

function isSecurity(key: string): boolean {
  return key === 'AuthMethod' || key === 'TargetPortalGroupTag';
}

/** A target that says what a script makes it say, right or wrong. */
export class FakeTarget {
  readonly host = '127.0.0.1';
  readonly targetName = 'iqn.2026-01.com.granary.test:fake';
  readonly #server: Server;
  readonly connections: FakeConnection[] = [];

  static async start(
    script: FakeConnection['script'],
    answers: Readonly<Record<string, string>> = {},
  ): Promise<FakeTarget> {
    const target = new FakeTarget(script, answers);
    await once(target.#server, 'listening');
    return target;
  }

  private constructor(script: FakeConnection['script'], answers: Readonly<Record<string, string>>) {
    this.#server = createServer((socket) => this.connections.push(new FakeConnection(socket, answers, script)));
    this.#server.listen(0, this.host);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    for (const connection of this.connections) connection.drop();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
