import type { NfsEvent } from './events.ts';
import { NoSuchProcedure, type Call, type Replay, type RpcProgram } from './rpc/program.ts';
import type { Version3 } from './v3/procedure.ts';
import { call3, isReplayed3 } from './v3/program.ts';
import type { Version4 } from './v4/compound.ts';
import { call4, isReplayed4 } from './v4/program.ts';
import { XdrReader } from './xdr/reader.ts';
import type { XdrWriter } from './xdr/writer.ts';

export interface NfsProgramOptions {
  readonly version3: Version3;
  readonly version4: Version4;
  readonly report: (event: NfsEvent) => void;
}

/** Version 4 compounds keep a reply only if they changed something; version 3 procedures say it beforehand. */
export class NfsProgram implements RpcProgram {
  readonly program = 100003;
  readonly versions = [3, 4];
  readonly #options: NfsProgramOptions;

  constructor(options: NfsProgramOptions) {
    this.#options = options;
  }

  replay(version: number, procedure: number, args: Buffer): Replay {
    if (version === 3) return isReplayed3(procedure) ? 'always' : 'never';
    return isReplayed4(procedure, new XdrReader(args)) ? 'if-changed' : 'never';
  }

  call(call: Call, args: XdrReader, reply: XdrWriter): Promise<void> {
    const { version3, version4, report } = this.#options;
    if (call.version === 3) return call3(version3, report, call, args, reply);
    if (call.version === 4) return call4(version4, call, args, reply);
    throw new NoSuchProcedure();
  }
}
