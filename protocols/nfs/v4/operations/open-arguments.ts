import { XdrError, type XdrReader } from '../../xdr/reader.ts';
import { readEncoded, type EncodedAttributes } from '../attributes/decode.ts';
import { Nfs4Error, Status4 } from '../status.ts';
import { readName, VERIFIER_BYTES } from './operation.ts';

export const OWNER_BYTES_MAX = 1024;
const Create = { unchecked: 0, guarded: 1, exclusive: 2, exclusive41: 3 } as const;
const Claim = { name: 0, previous: 1, delegateCurrent: 2, delegatePrevious: 3, handle: 4 } as const;

export type Creation =
  | { readonly how: 'unchecked' | 'guarded'; readonly attributes: EncodedAttributes }
  | { readonly how: 'exclusive'; readonly verifier: Buffer; readonly attributes: EncodedAttributes | undefined };

export type OpenClaim =
  | { readonly kind: 'name'; readonly name: Buffer }
  /** From before a restart. */
  | { readonly kind: 'previous' }
  | { readonly kind: 'handle' };

export interface OpenArguments {
  readonly sequenceId: number;
  readonly access: number;
  readonly deny: number;
  readonly clientId: bigint;
  readonly ownerName: Buffer;
  readonly creation: Creation | undefined;
  readonly claim: OpenClaim;
}

function readCreation(args: XdrReader, minorVersion: number): Creation | undefined {
  const openType = args.u32();
  if (openType > 1) throw new XdrError(`${openType} is no way to open`);
  if (openType === 0) return undefined;
  const how = args.u32();
  if (how === Create.unchecked || how === Create.guarded) {
    return { how: how === Create.guarded ? 'guarded' : 'unchecked', attributes: readEncoded(args) };
  }
  if (how !== Create.exclusive && (how !== Create.exclusive41 || minorVersion === 0)) {
    throw new XdrError(`${how} is no way to create`);
  }
  const verifier = args.fixed(VERIFIER_BYTES);
  return { how: 'exclusive', verifier, attributes: how === Create.exclusive41 ? readEncoded(args) : undefined };
}

function readClaim(args: XdrReader, minorVersion: number): OpenClaim {
  const claim = args.u32();
  if (claim === Claim.name) return { kind: 'name', name: readName(args) };
  if (claim === Claim.previous) {
    // A delegation that the client had: it gets none again.
    args.u32();
    return { kind: 'previous' };
  }
  if (claim === Claim.handle && minorVersion > 0) return { kind: 'handle' };
  // The others are about delegations, which are never given out.
  throw new Nfs4Error(Status4.notSupported);
}

const SHARE_BITS = 3;
/** 4.1: whether the client would like a delegation. */
const WANT_BITS = 0xff00 | 0x30000;

export function readOpen(args: XdrReader, minorVersion: number): OpenArguments {
  const [sequenceId, rawAccess, deny] = [args.u32(), args.u32(), args.u32()];
  const access = minorVersion > 0 ? rawAccess & ~WANT_BITS : rawAccess;
  const [clientId, ownerName] = [args.u64(), args.opaque(OWNER_BYTES_MAX)];
  const creation = readCreation(args, minorVersion);
  const claim = readClaim(args, minorVersion);
  if (access === 0 || access > SHARE_BITS || deny > SHARE_BITS) throw new Nfs4Error(Status4.invalid);
  return { sequenceId, access, deny, clientId, ownerName, creation, claim };
}
