import type { XdrReader } from '../../xdr/reader.ts';
import type { XdrWriter } from '../../xdr/writer.ts';

const OTHER_BYTES = 12;
const ONES = Buffer.alloc(OTHER_BYTES, 0xff);
const ZEROS = Buffer.alloc(OTHER_BYTES);
const U32_MAX = 0xffff_ffff;

/** A state of ours: which of which client, and after how many changes. */
export interface StateId {
  readonly sequence: number;
  readonly client: number;
  readonly number: number;
}

/** What a client names: nothing at all, the one of this compound, or one that we gave out, perhaps before a restart. */
export type NamedState =
  | { readonly kind: 'anonymous' | 'bypass' | 'current' | 'invalid' }
  | { readonly kind: 'given'; readonly instance: number; readonly id: StateId };

/**
 * A stateid on the wire is a sequence number and twelve bytes: which start of the server gave it out, the client and the
 * state. So a stateid of before a restart and one of an expired client differ from one that never was.
 */
export function readStateId(args: XdrReader): NamedState {
  const sequence = args.u32();
  const other = args.fixed(OTHER_BYTES);
  if (other.equals(ZEROS)) {
    return { kind: sequence === 0 ? 'anonymous' : sequence === 1 ? 'current' : 'invalid' };
  }
  if (other.equals(ONES)) return { kind: sequence === U32_MAX ? 'bypass' : 'invalid' };
  const [instance, client, number] = [other.readUInt32BE(0), other.readUInt32BE(4), other.readUInt32BE(8)];
  return { kind: 'given', instance, id: { sequence, client, number } };
}

export function writeStateId(reply: XdrWriter, instance: number, { sequence, client, number }: StateId): void {
  reply.u32(sequence).u32(instance).u32(client).u32(number);
}

/** What CLOSE answers in 4.1: an id that is good for nothing. */
export function writeClosedStateId(reply: XdrWriter): void {
  reply.u32(U32_MAX).fixed(ZEROS);
}
