import type { Awaitable } from '../filesystem.ts';
import type { XdrReader } from '../xdr/reader.ts';
import type { XdrWriter } from '../xdr/writer.ts';
import type { CallerCredentials } from './message.ts';

/** What a procedure knows of the call. */
export interface Call {
  readonly xid: number;
  readonly version: number;
  readonly procedure: number;
  readonly credentials: CallerCredentials;
  /** Of the client, without a prefix for IPv4 in IPv6. */
  readonly address: string;
  /** The same object for all calls of one connection. */
  readonly connection: object;
  /** Set if the request changed something, so that its reply is worth keeping. */
  keepReply: boolean;
}

/** Whether a request that comes again gets the reply of the first: then that one is kept, always or if it changed something. */
export type Replay = 'never' | 'always' | 'if-changed';

/** The program has no such procedure. */
export class NoSuchProcedure extends Error {}

export interface RpcProgram {
  readonly program: number;
  readonly versions: readonly number[];
  replay(version: number, procedure: number, args: Buffer): Replay;
  /** Throws `XdrError` for arguments that cannot be read and `NoSuchProcedure`. */
  call(call: Call, args: XdrReader, reply: XdrWriter): Awaitable<void>;
}
