import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { RecordReader } from '../rpc/record-reader.ts';
import { XdrReader } from '../xdr/reader.ts';
import { XdrWriter } from '../xdr/writer.ts';
import type { LockArguments } from './messages.ts';

const PORTMAP = { program: 100000, version: 2, procedure: 3 } as const;
const LOCK_MANAGER = { program: 100021, version: 4, procedure: 5 } as const;
const STATUS_MONITOR = { program: 100024, version: 1, procedure: 6 } as const;
const TCP = 6;
const REPLY_BYTES_MAX = 4096;
const TIMEOUT_MS = 5_000;
const LAST_FRAGMENT = 0x8000_0000;

interface Procedure {
  readonly program: number;
  readonly version: number;
  readonly procedure: number;
}

/** What the server tells hosts that lock by version 3. */
export interface HostCallbacks {
  /** A lock that the host waits for is its own now. False if the host could not be reached, or does not want it. */
  granted(address: string, args: LockArguments): Promise<boolean>;
  /** The server has restarted: holders of locks must reclaim them. */
  restarted(address: string, serverName: string, state: number): Promise<void>;
}

/** Asks the host's own portmapper where its lock manager and its status monitor are, and calls them. */
export class RpcCallbacks implements HostCallbacks {
  readonly #portmapPort: number;
  /** Replies are matched by it, so others must not be able to guess it. */
  #xid = randomInt(0x7fff_ffff);

  constructor(portmapPort = 111) {
    this.#portmapPort = portmapPort;
  }

  async granted(address: string, args: LockArguments): Promise<boolean> {
    try {
      const reply = await this.#reach(address, LOCK_MANAGER, (writer) => {
        writer.opaque(args.cookie).bool(args.exclusive).opaque(args.caller).opaque(args.handle);
        writer.opaque(args.owner).i32(args.processId).u64(args.offset).u64(args.length);
      });
      reply.opaque(REPLY_BYTES_MAX);
      return reply.u32() === 0;
    } catch {
      return false;
    }
  }

  async restarted(address: string, serverName: string, state: number): Promise<void> {
    // A host that cannot be reached finds out when it asks for its next lock.
    await this.#reach(address, STATUS_MONITOR, (writer) => writer.text(serverName).i32(state)).catch(() => undefined);
  }

  async #reach(address: string, procedure: Procedure, write: (writer: XdrWriter) => void): Promise<XdrReader> {
    const found = await this.#call(address, this.#portmapPort, PORTMAP, (writer) => {
      writer.u32(procedure.program).u32(procedure.version).u32(TCP).u32(0);
    });
    const port = found.u32();
    if (port === 0 || port > 0xffff) throw new Error('the host does not have the program');
    return this.#call(address, port, procedure, write);
  }

  async #call(
    host: string,
    port: number,
    { program, version, procedure }: Procedure,
    write: (writer: XdrWriter) => void,
  ): Promise<XdrReader> {
    const socket = connect({ host, port });
    socket.on('error', () => undefined);
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('no answer')));
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      await once(socket, 'connect', { signal });
      this.#xid = (this.#xid + 1) >>> 0;
      const call = new XdrWriter();
      call.u32(0).u32(this.#xid).u32(0).u32(2).u32(program).u32(version).u32(procedure);
      call.u32(0).u32(0).u32(0).u32(0);
      write(call);
      call.setU32(0, (LAST_FRAGMENT | (call.length - 4)) >>> 0);
      const reply = new Promise<Buffer>((resolve, reject) => {
        const records = new RecordReader(REPLY_BYTES_MAX, resolve);
        socket.on('data', (chunk) => {
          try {
            records.push(chunk);
          } catch (error) {
            reject(error instanceof Error ? error : new Error('the answer cannot be read'));
          }
        });
        socket.on('error', reject);
        socket.on('close', () => reject(new Error('the connection was closed')));
        signal.addEventListener('abort', () => reject(new Error('no answer')));
      });
      socket.write(call.bytes);
      return acceptedBody(await reply);
    } finally {
      socket.destroy();
    }
  }
}

function acceptedBody(record: Buffer): XdrReader {
  const reader = new XdrReader(record);
  reader.u32();
  if (reader.u32() !== 1 || reader.u32() !== 0) throw new Error('the call was denied');
  reader.u32();
  reader.opaque(400);
  if (reader.u32() !== 0) throw new Error('the call was not accepted');
  return reader;
}
