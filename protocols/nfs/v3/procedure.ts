import type { LockTable } from '../../locks/index.ts';
import type { Attributes } from '../filesystem.ts';
import type { Limits } from '../limits.ts';
import type { Namespace, Place } from '../namespace/namespace.ts';
import type { Call } from '../rpc/program.ts';
import type { XdrReader } from '../xdr/reader.ts';
import type { XdrWriter } from '../xdr/writer.ts';
import { writeChange, writePostOp } from './attributes.ts';
import { Status3 } from './status.ts';

export interface Version3 {
  readonly namespace: Namespace;
  readonly limits: Limits;
  readonly locks: LockTable;
}

const HANDLE_BYTES_MAX = 64;
/** Longer ones are refused by what the filesystem allows, in words the client understands. */
const NAME_BYTES_MAX = 4096;

/** What a failed procedure says of the files it was about, in their order. */
export type FailureBody = readonly ('attributes' | 'change')[];

export interface Procedure3 {
  readonly name: string;
  readonly isReplayed?: boolean;
  readonly onFailure: FailureBody;
  run(request: Request3): Promise<void>;
}

/** One call of version 3: its arguments, its reply, and the files it is about. */
export class Request3 {
  readonly server: Version3;
  readonly call: Call;
  readonly args: XdrReader;
  readonly reply: XdrWriter;
  readonly #start: number;
  readonly #places: Place[] = [];

  constructor(server: Version3, call: Call, args: XdrReader, reply: XdrWriter) {
    this.server = server;
    this.call = call;
    this.args = args;
    this.reply = reply;
    this.#start = reply.length;
  }

  handleArgument(): Buffer {
    return this.args.opaque(HANDLE_BYTES_MAX);
  }

  nameArgument(): Buffer {
    return this.args.opaque(NAME_BYTES_MAX);
  }

  async place(handle: Buffer): Promise<Place> {
    const place = await this.server.namespace.resolve(handle, this.call);
    this.#places.push(place);
    return place;
  }

  ok(): XdrWriter {
    return this.reply.u32(Status3.ok);
  }

  handle(place: Place): void {
    this.reply.opaque(this.server.namespace.handle(place));
  }

  attributes({ filesystem }: Place, attributes: Attributes | undefined): void {
    writePostOp(this.reply, filesystem.id, attributes);
  }

  async currentAttributes(place: Place): Promise<void> {
    this.attributes(place, await attributesIfAny(place));
  }

  async fail(status: number, body: FailureBody): Promise<void> {
    this.reply.truncate(this.#start);
    this.reply.u32(status);
    for (const [index, kind] of body.entries()) {
      const place = this.#places[index];
      const after = place && (await attributesIfAny(place));
      const filesystemId = place?.filesystem.id ?? 0n;
      if (kind === 'attributes') writePostOp(this.reply, filesystemId, after);
      else writeChange(this.reply, filesystemId, after === undefined ? {} : { after });
    }
  }
}

async function attributesIfAny({ filesystem, file }: Place): Promise<Attributes | undefined> {
  try {
    return await filesystem.attributes(file);
  } catch {
    return undefined;
  }
}
