import { NoSuchProcedure, type Call, type Replay, type RpcProgram } from '../rpc/program.ts';
import type { XdrReader } from '../xdr/reader.ts';
import type { XdrWriter } from '../xdr/writer.ts';

const TEXT_BYTES_MAX = 1024;
const TCP = 6;
const Procedure = { getPort: 3, dump: 4 } as const;

/**
 * Says where the programs of this server are: all at one port. Clients that are configured with the port do not need it; the kernel of
 * Linux has no option for the port of the lock manager and asks at port 111, where the server may listen, too.
 */
export class PortmapProgram implements RpcProgram {
  readonly program = 100000;
  readonly versions = [2, 3, 4];
  readonly #programs: readonly RpcProgram[];
  readonly #port: () => number;

  constructor(programs: readonly RpcProgram[], port: () => number) {
    this.#programs = programs;
    this.#port = port;
  }

  replay(): Replay {
    return 'never';
  }

  call({ version, procedure }: Call, args: XdrReader, reply: XdrWriter): void {
    if (procedure === Procedure.getPort) {
      if (version === 2) this.#getPort(args, reply);
      else this.#getAddress(args, reply);
    } else if (procedure === Procedure.dump) {
      this.#dump(version, reply);
    } else {
      throw new NoSuchProcedure();
    }
  }

  #has(program: number, version: number): boolean {
    return this.#programs.some((known) => known.program === program && known.versions.includes(version));
  }

  #getPort(args: XdrReader, reply: XdrWriter): void {
    const [program, version, protocol] = [args.u32(), args.u32(), args.u32()];
    args.u32();
    reply.u32(protocol === TCP && this.#has(program, version) ? this.#port() : 0);
  }

  #getAddress(args: XdrReader, reply: XdrWriter): void {
    const [program, version, network] = [args.u32(), args.u32(), args.text(TEXT_BYTES_MAX)];
    args.opaque(TEXT_BYTES_MAX);
    args.opaque(TEXT_BYTES_MAX);
    const isHere = (network === 'tcp' || network === 'tcp6') && this.#has(program, version);
    reply.text(isHere ? this.#universalAddress(network) : '');
  }

  /** The host part says: wherever this was asked. */
  #universalAddress(network: string): string {
    const port = this.#port();
    return `${network === 'tcp6' ? '::' : '0.0.0.0'}.${port >> 8}.${port & 0xff}`;
  }

  #dump(version: number, reply: XdrWriter): void {
    for (const { program, versions } of this.#programs) {
      for (const known of versions) {
        reply.bool(true).u32(program).u32(known);
        if (version === 2) reply.u32(TCP).u32(this.#port());
        else reply.text('tcp').text(this.#universalAddress('tcp')).text('superuser');
      }
    }
    reply.bool(false);
  }
}
