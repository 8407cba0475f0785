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
}

/** The program has no such procedure. */
export class NoSuchProcedure extends Error {}

export interface RpcProgram {
  readonly program: number;
  readonly versions: readonly number[];
  /** Whether doing it a second time would do harm, so that its reply is kept for a request that is sent again. */
  isReplayed(version: number, procedure: number, argumentBytes: Buffer): boolean;
  /** Throws `XdrError` for arguments that cannot be read and `NoSuchProcedure`. */
  call(call: Call, args: XdrReader, reply: XdrWriter): Awaitable<void>;
}
