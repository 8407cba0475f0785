import { ShareBits } from '../../locks/index.ts';
import type { Place } from '../namespace/namespace.ts';
import { checkRange, lockedFile, mustAllowData, mustBeFile, mustBeWritable, refused } from '../operations.ts';
import { XdrError } from '../xdr/reader.ts';
import { writeChange } from './attributes.ts';
import type { Procedure3, Request3 } from './procedure.ts';

const Stable = { unstable: 0, dataSync: 1, fileSync: 2 } as const;

function mustNotBeDenied(request: Request3, place: Place, access: number): void {
  if (request.server.locks.isDenied(lockedFile(place), access)) {
    throw refused(place, access === ShareBits.read ? 'read' : 'write', 'another client has opened the file for itself');
  }
}

export const read: Procedure3 = {
  name: 'READ',
  onFailure: ['attributes'],
  async run(request) {
    const { args, reply } = request;
    const [handle, offset, wanted] = [request.handleArgument(), args.size(), args.u32()];
    const place = await request.place(handle);
    const attributes = await place.filesystem.attributes(place.file);
    mustBeFile(attributes);
    await mustAllowData(place, attributes, 'read');
    mustNotBeDenied(request, place, ShareBits.read);
    const length = Math.max(0, Math.min(wanted, request.server.limits.transferBytesMax, attributes.sizeBytes - offset));
    request.ok();
    request.attributes(place, attributes);
    const countAt = reply.length;
    reply.u32(0).u32(0);
    const into = reply.beginOpaque(length);
    const count = length === 0 ? 0 : await place.filesystem.read(place.as, place.file, offset, into);
    reply.endOpaque(length, count);
    reply.setU32(countAt, count);
    reply.setU32(countAt + 4, offset + count >= attributes.sizeBytes ? 1 : 0);
  },
};

export const write: Procedure3 = {
  name: 'WRITE',
  onFailure: ['change'],
  async run(request) {
    const { args } = request;
    const [handle, offset, count, stable] = [request.handleArgument(), args.size(), args.u32(), args.u32()];
    const data = args.opaque(request.server.limits.transferBytesMax).subarray(0, count);
    if (stable > Stable.fileSync) throw new XdrError(`${stable} is no kind of durability`);
    const place = await request.place(handle);
    mustBeWritable(place);
    const attributes = await place.filesystem.attributes(place.file);
    mustBeFile(attributes);
    await mustAllowData(place, attributes, 'write');
    mustNotBeDenied(request, place, ShareBits.write);
    checkRange(place, offset, data.length);
    const durable = stable !== Stable.unstable || place.access.sync;
    const change = await place.filesystem.write(place.as, place.file, offset, data, durable);
    request.ok();
    writeChange(request.reply, place.filesystem.id, change);
    request.reply.u32(data.length).u32(durable ? Stable.fileSync : Stable.unstable);
    request.reply.u64(place.filesystem.writeVerifier);
  },
};

export const commit: Procedure3 = {
  name: 'COMMIT',
  onFailure: ['change'],
  async run(request) {
    const handle = request.handleArgument();
    request.args.u64();
    request.args.u32();
    const place = await request.place(handle);
    const before = await place.filesystem.attributes(place.file);
    mustBeFile(before);
    await place.filesystem.commit(place.file);
    // A COMMIT changes nothing that a client could see, so there is nothing that came before it.
    writeChange(request.ok(), place.filesystem.id, { after: await place.filesystem.attributes(place.file) });
    request.reply.u64(place.filesystem.writeVerifier);
  },
};
