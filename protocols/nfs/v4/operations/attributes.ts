import type { Change } from '../../filesystem.ts';
import type { Place } from '../../namespace/namespace.ts';
import { checkRange, mustBeFile, mustBeWritable } from '../../operations.ts';
import { accessBits } from '../../v3/attribute-procedures.ts';
import type { XdrReader } from '../../xdr/reader.ts';
import { XdrWriter } from '../../xdr/writer.ts';
import { Bitmap } from '../attributes/bitmap.ts';
import { aclFrom, decodeAttributes, readEncoded, type WantedAttributes } from '../attributes/decode.ts';
import { isSetOnly, selectAttributes, supportedAttributes, writeAttributes } from '../attributes/encode.ts';
import type { Compound } from '../compound.ts';
import { readStateId } from '../state/state-id.ts';
import { Nfs4Error, Status4 } from '../status.ts';
import { mustAllowIo } from './io-access.ts';
import type { Operation } from './operation.ts';

const ACCESS_BITS = 0x3f;

export const getAttributes: Operation = async (compound, args, reply) => {
  const wanted = Bitmap.read(args);
  const { place, server, minorVersion } = compound;
  if (wanted.numbers().some(isSetOnly)) throw new Nfs4Error(Status4.invalid);
  const found = place.filesystem.attributes(place.file);
  const attributes = found instanceof Promise ? await found : found;
  const written = writeAttributes(reply, server, selectAttributes(wanted, minorVersion), place, attributes);
  if (written instanceof Promise) await written;
};

export const access: Operation = async (compound, args, reply) => {
  const wanted = args.u32();
  const { filesystem, file, as, access: exported } = compound.place;
  const { type } = await filesystem.attributes(file);
  const bits = accessBits(await filesystem.access(as, file), type === 'directory', exported.readOnly);
  reply.u32(wanted & ACCESS_BITS).u32(wanted & bits);
};

export const setAttributes: Operation = async (compound, args, reply) => {
  const stateId = readStateId(args);
  const encoded = readEncoded(args);
  const { place } = compound;
  const wanted = await decodeAttributes(encoded, compound.minorVersion, compound.server.identities);
  mustBeWritable(place);
  const { sizeBytes } = wanted.changes;
  if (sizeBytes !== undefined) {
    const attributes = await place.filesystem.attributes(place.file);
    mustBeFile(attributes);
    checkRange(place, sizeBytes, 0);
    await mustAllowIo(compound, stateId, attributes, 'write');
  }
  await applyAttributes(compound, place, wanted);
  wanted.bitmap.write(reply);
};

/** Sets what is wanted, and the ACL after it, which may change the mode again. */
export async function applyAttributes(
  { server }: Compound,
  place: Place,
  { changes, aces }: WantedAttributes,
): Promise<Change | undefined> {
  const { filesystem, as, file } = place;
  const isAny = Object.values(changes).some((value) => value !== undefined);
  const change = isAny ? await filesystem.setAttributes(as, file, changes) : undefined;
  if (aces === undefined) return change;
  const { type } = await filesystem.attributes(file);
  const acl = await aclFrom(aces, type === 'directory', server.identities);
  return filesystem.setAcl(as, file, acl);
}

/** Whether the file's attributes are those that the client names, byte by byte. */
async function isSame(compound: Compound, args: XdrReader): Promise<boolean> {
  const { bitmap, bytes } = readEncoded(args);
  const { place, server, minorVersion } = compound;
  const supported = supportedAttributes(minorVersion);
  for (const number of bitmap.numbers()) {
    if (!supported.has(number)) throw new Nfs4Error(Status4.attributeNotSupported);
    if (isSetOnly(number)) throw new Nfs4Error(Status4.invalid);
  }
  const attributes = await place.filesystem.attributes(place.file);
  const current = new XdrWriter();
  await writeAttributes(current, server, selectAttributes(bitmap, minorVersion), place, attributes);
  const wanted = new XdrWriter();
  bitmap.write(wanted);
  wanted.opaque(bytes);
  return current.bytes.equals(wanted.bytes);
}

export const verify: Operation = async (compound, args) => {
  if (!(await isSame(compound, args))) throw new Nfs4Error(Status4.notSame);
};

export const verifyNot: Operation = async (compound, args) => {
  if (await isSame(compound, args)) throw new Nfs4Error(Status4.same);
};
