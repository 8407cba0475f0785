import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { RecordReader } from '../rpc/record-reader.ts';
import { XdrReader } from '../xdr/reader.ts';
import { XdrWriter } from '../xdr/writer.ts';

const REPLY_BYTES_MAX = 16 * 1024 * 1024;
const LAST_FRAGMENT = 0x8000_0000;

export interface ClientCredentials {
  readonly uid: number;
  readonly gid: number;
  readonly groups?: readonly number[];
}

export interface RpcReply {
  /** 0 accepted, 1 denied. */
  readonly stat: number;
  /** If accepted, 0 is success; if denied, why. */
  readonly status: number;
  readonly body: XdrReader;
  readonly bytes: Buffer;
}

export type WriteArguments = (args: XdrWriter) => void;

/** A small RPC client over one connection. */
export class RpcClient {
  readonly socket: Socket;
  credentials: ClientCredentials | undefined = { uid: 0, gid: 0 };
  readonly #waiting = new Map<number, { resolve(record: Buffer): void; reject(error: Error): void }>();
  #lastXid = Math.floor(Math.random() * 0x7fff_ffff);

  constructor(socket: Socket) {
    this.socket = socket;
    const reader = new RecordReader(REPLY_BYTES_MAX, (record) => this.#received(record));
    socket.on('data', (chunk) => reader.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => this.#closed());
  }

  static async open(port: number, host = '127.0.0.1'): Promise<RpcClient> {
    const socket = connect({ port, host, noDelay: true });
    await once(socket, 'connect');
    return new RpcClient(socket);
  }

  #received(record: Buffer): void {
    const xid = record.readUInt32BE(0);
    const waiting = this.#waiting.get(xid);
    this.#waiting.delete(xid);
    waiting?.resolve(Buffer.from(record));
  }

  #closed(): void {
    for (const call of this.#waiting.values()) call.reject(new Error('the connection was closed'));
    this.#waiting.clear();
  }

  nextXid(): number {
    this.#lastXid = (this.#lastXid + 1) >>> 0;
    return this.#lastXid;
  }

  /** A whole call, with its record mark. */
  message(program: number, version: number, procedure: number, write: WriteArguments, xid = this.nextXid()): Buffer {
    const writer = new XdrWriter();
    writer.u32(0).u32(xid).u32(0).u32(2).u32(program).u32(version).u32(procedure);
    this.#writeCredentials(writer);
    writer.u32(0).u32(0);
    write(writer);
    writer.setU32(0, (LAST_FRAGMENT | (writer.length - 4)) >>> 0);
    return Buffer.from(writer.bytes);
  }

  #writeCredentials(writer: XdrWriter): void {
    if (this.credentials === undefined) {
      writer.u32(0).u32(0);
      return;
    }
    const body = new XdrWriter();
    const { uid, gid, groups = [] } = this.credentials;
    body.u32(0).text('test').u32(uid).u32(gid);
    body.array(groups, (group) => body.u32(group));
    writer.u32(1).opaque(body.bytes);
  }

  async exchange(message: Buffer): Promise<RpcReply> {
    const xid = message.readUInt32BE(4);
    const record = await new Promise<Buffer>((resolve, reject) => {
      if (this.socket.destroyed) {
        reject(new Error('the connection was closed'));
        return;
      }
      this.#waiting.set(xid, { resolve, reject });
      this.socket.write(message);
    });
    return parseReply(record);
  }

  async call(program: number, version: number, procedure: number, write: WriteArguments = () => undefined) {
    return this.exchange(this.message(program, version, procedure, write));
  }

  /** The body of a reply that must be a success. */
  async request(program: number, version: number, procedure: number, write?: WriteArguments): Promise<XdrReader> {
    const { stat, status, body } = await this.call(program, version, procedure, write);
    if (stat !== 0 || status !== 0) throw new Error(`the call was refused: ${stat} ${status}`);
    return body;
  }

  close(): void {
    this.socket.destroy();
  }
}

function parseReply(bytes: Buffer): RpcReply {
  const body = new XdrReader(bytes);
  body.u32();
  if (body.u32() !== 1) throw new Error('not a reply');
  const stat = body.u32();
  if (stat === 0) {
    body.u32();
    body.opaque(400);
  }
  return { stat, status: body.u32(), body, bytes };
}
