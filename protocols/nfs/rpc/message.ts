import { XdrError, XdrReader } from '../xdr/reader.ts';
import { XdrWriter, type BufferSource } from '../xdr/writer.ts';

export const RPC_VERSION = 2;
const CALL = 0;
const REPLY = 1;
const ACCEPTED = 0;
const DENIED = 1;
const RPC_MISMATCH = 0;
const AUTH_ERROR = 1;
const OPAQUE_AUTH_BYTES_MAX = 400;
const MACHINE_NAME_BYTES_MAX = 255;
const GROUPS_MAX = 16;
/** Of a record: the fragment's length, and the bit that says it is the last one. */
const RECORD_MARK_BYTES = 4;
const LAST_FRAGMENT = 0x8000_0000;

export const AuthFlavor = { none: 0, sys: 1 } as const;
export const AcceptStatus = {
  success: 0,
  programUnavailable: 1,
  programMismatch: 2,
  procedureUnavailable: 3,
  garbageArguments: 4,
  systemError: 5,
} as const;
export const AuthStatus = { badCredentials: 1, tooWeak: 5 } as const;

/** Who calls, as the caller says: nothing of it is proven. */
export interface CallerCredentials {
  readonly flavor: number;
  readonly machine: string;
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
}

export interface CallHeader {
  readonly xid: number;
  readonly rpcVersion: number;
  readonly program: number;
  readonly version: number;
  readonly procedure: number;
  /** Undefined if the flavor is one we do not take. */
  readonly credentials: CallerCredentials | undefined;
  /** The flavor is known, but what came with it is not what belongs there. */
  readonly badCredentials: boolean;
}

const NO_CREDENTIALS = { machine: '', uid: -1, gid: -1, groups: [] } as const;

/** Throws `XdrError` for anything that is no call: such a connection has lost its way and is ended. */
export function readCall(reader: XdrReader): CallHeader {
  const xid = reader.u32();
  if (reader.u32() !== CALL) throw new XdrError('not a call');
  const rpcVersion = reader.u32();
  if (rpcVersion !== RPC_VERSION) {
    return { xid, rpcVersion, program: 0, version: 0, procedure: 0, credentials: undefined, badCredentials: false };
  }
  const [program, version, procedure] = [reader.u32(), reader.u32(), reader.u32()];
  const flavor = reader.u32();
  const body = reader.opaque(OPAQUE_AUTH_BYTES_MAX);
  reader.u32();
  reader.opaque(OPAQUE_AUTH_BYTES_MAX);
  const header = { xid, rpcVersion, program, version, procedure };
  if (flavor === AuthFlavor.none)
    return { ...header, credentials: { flavor, ...NO_CREDENTIALS }, badCredentials: false };
  if (flavor !== AuthFlavor.sys) return { ...header, credentials: undefined, badCredentials: false };
  const credentials = readSys(body);
  return { ...header, credentials, badCredentials: credentials === undefined };
}

function readSys(body: Buffer): CallerCredentials | undefined {
  try {
    const reader = new XdrReader(body);
    reader.u32();
    const machine = reader.text(MACHINE_NAME_BYTES_MAX);
    const [uid, gid] = [reader.u32(), reader.u32()];
    const groups = reader.array(GROUPS_MAX, () => reader.u32());
    return { flavor: AuthFlavor.sys, machine, uid, gid, groups };
  } catch (error) {
    if (error instanceof XdrError) return undefined;
    throw error;
  }
}

/** A writer that has the head of a record and of a reply that was accepted; `finishReply` completes it. */
export function beginReply(xid: number, status: number, buffers?: BufferSource): XdrWriter {
  const writer = new XdrWriter(undefined, buffers);
  writer.u32(0).u32(xid).u32(REPLY).u32(ACCEPTED);
  writer.u32(AuthFlavor.none).u32(0).u32(status);
  return writer;
}

export function finishReply(writer: XdrWriter): Buffer {
  writer.setU32(0, (LAST_FRAGMENT | (writer.length - RECORD_MARK_BYTES)) >>> 0);
  return writer.bytes;
}

export function versionMismatch(xid: number, low: number, high: number): Buffer {
  return finishReply(beginReply(xid, AcceptStatus.programMismatch).u32(low).u32(high));
}

export function rpcMismatch(xid: number): Buffer {
  const writer = new XdrWriter();
  writer.u32(0).u32(xid).u32(REPLY).u32(DENIED);
  writer.u32(RPC_MISMATCH).u32(RPC_VERSION).u32(RPC_VERSION);
  return finishReply(writer);
}

export function authError(xid: number, status: number): Buffer {
  const writer = new XdrWriter();
  writer.u32(0).u32(xid).u32(REPLY).u32(DENIED);
  writer.u32(AUTH_ERROR).u32(status);
  return finishReply(writer);
}
