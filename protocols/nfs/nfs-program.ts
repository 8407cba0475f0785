import type { LockTable } from '../locks/index.ts';
import type { NfsEvent } from './events.ts';
import type { Limits } from './limits.ts';
import type { Namespace } from './namespace/namespace.ts';
import type { Call, RpcProgram } from './rpc/program.ts';
import { call3, isReplayed3 } from './v3/program.ts';
import type { XdrReader } from './xdr/reader.ts';
import type { XdrWriter } from './xdr/writer.ts';

export interface NfsProgramOptions {
  readonly namespace: Namespace;
  readonly limits: Limits;
  readonly locks: LockTable;
  readonly report: (event: NfsEvent) => void;
}

export class NfsProgram implements RpcProgram {
  readonly program = 100003;
  readonly versions = [3];
  readonly #options: NfsProgramOptions;

  constructor(options: NfsProgramOptions) {
    this.#options = options;
  }

  isReplayed(_version: number, procedure: number): boolean {
    return isReplayed3(procedure);
  }

  call(call: Call, args: XdrReader, reply: XdrWriter): Promise<void> {
    return call3(this.#options, this.#options.report, call, args, reply);
  }
}
