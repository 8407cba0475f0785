import { checkRange, mustBeWritable } from '../../operations.ts';
import { readStateId } from '../state/state-id.ts';
import { Nfs4Error, Status4 } from '../status.ts';
import { mustAllowIo, mustBeRegular } from './io-access.ts';
import type { Operation } from './operation.ts';

const Stable = { unstable: 0, dataSync: 1, fileSync: 2 } as const;
/** What a reply holds beside the data of a READ. */
const REPLY_OVERHEAD_BYTES = 1024;

export const read: Operation = async (compound, args, reply) => {
  const [stateId, offset, wanted] = [readStateId(args), args.size(), args.u32()];
  const { place, server, session } = compound;
  const attributes = await place.filesystem.attributes(place.file);
  mustBeRegular(attributes, compound.minorVersion);
  await mustAllowIo(compound, stateId, attributes, 'read');
  const room = (session?.limits.replyBytesMax ?? Infinity) - REPLY_OVERHEAD_BYTES;
  const most = Math.min(wanted, server.limits.transferBytesMax, room, attributes.sizeBytes - offset);
  const length = Math.max(0, most);
  const endAt = reply.length;
  reply.bool(false);
  const into = reply.beginOpaque(length);
  const count = length === 0 ? 0 : await place.filesystem.read(place.as, place.file, offset, into);
  reply.endOpaque(length, count);
  reply.setU32(endAt, offset + count >= attributes.sizeBytes ? 1 : 0);
};

export const write: Operation = async (compound, args, reply) => {
  const [stateId, offset, stable] = [readStateId(args), args.size(), args.u32()];
  const data = args.opaque(compound.server.limits.transferBytesMax);
  if (stable > Stable.fileSync) throw new Nfs4Error(Status4.badXdr);
  const { place } = compound;
  mustBeWritable(place);
  const attributes = await place.filesystem.attributes(place.file);
  mustBeRegular(attributes, compound.minorVersion);
  await mustAllowIo(compound, stateId, attributes, 'write');
  checkRange(place, offset, data.length);
  const durable = stable !== Stable.unstable || place.access.sync;
  await place.filesystem.write(place.as, place.file, offset, data, durable);
  reply.u32(data.length).u32(durable ? Stable.fileSync : Stable.unstable);
  reply.u64(place.filesystem.writeVerifier);
};

export const commit: Operation = async (compound, args, reply) => {
  args.u64();
  args.u32();
  const { filesystem, file } = compound.place;
  mustBeRegular(await filesystem.attributes(file), compound.minorVersion);
  await filesystem.commit(file);
  reply.u64(filesystem.writeVerifier);
};

export const readLink: Operation = async (compound, _args, reply) => {
  const { filesystem, file } = compound.place;
  const { type } = await filesystem.attributes(file);
  if (type !== 'symlink') {
    throw new Nfs4Error(compound.minorVersion === 0 ? Status4.invalid : Status4.wrongType);
  }
  reply.opaque(await filesystem.readSymlink(file));
};
