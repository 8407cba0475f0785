import { Access, type AttributeChanges } from '../filesystem.ts';
import type { Place } from '../namespace/namespace.ts';
import { checkRange, lockedFile, mustAllowData, mustBeFile, mustBeWritable, refused } from '../operations.ts';
import { ShareBits } from '../../locks/index.ts';
import { readAttributeChanges, readTime, writeAttributes, writeChange } from './attributes.ts';
import type { Procedure3, Request3 } from './procedure.ts';
import { Nfs3Error, Status3 } from './status.ts';

const AccessBits = { read: 1, lookup: 2, modify: 4, extend: 8, delete: 16, execute: 32 } as const;

export const getAttributes: Procedure3 = {
  name: 'GETATTR',
  onFailure: [],
  async run(request) {
    const place = await request.place(request.handleArgument());
    const attributes = await place.filesystem.attributes(place.file);
    writeAttributes(request.ok(), place.filesystem.id, attributes);
  },
};

export const setAttributes: Procedure3 = {
  name: 'SETATTR',
  isReplayed: true,
  onFailure: ['change'],
  async run(request) {
    const { args } = request;
    const handle = request.handleArgument();
    const changes = readAttributeChanges(args);
    const guard = args.optional(readTime);
    const place = await request.place(handle);
    mustBeWritable(place);
    if (guard !== undefined) {
      const { changed } = await place.filesystem.attributes(place.file);
      const isSame = changed.seconds === guard.seconds && changed.nanoseconds === guard.nanoseconds;
      if (!isSame) throw new Nfs3Error(Status3.notSync);
    }
    if (changes.sizeBytes !== undefined) await checkTruncation(request, place, changes.sizeBytes);
    const change = await place.filesystem.setAttributes(place.as, place.file, changes);
    writeChange(request.ok(), place.filesystem.id, change);
  },
};

export async function checkTruncation(request: Request3, place: Place, sizeBytes: number): Promise<void> {
  const attributes = await place.filesystem.attributes(place.file);
  mustBeFile(attributes);
  checkRange(place, sizeBytes, 0);
  await mustAllowData(place, attributes, 'write');
  if (request.server.locks.isDenied(lockedFile(place), ShareBits.write)) throw refused(place, 'write');
}

/** What is given at creation; a size makes sense for files alone. */
export function creationChanges(changes: AttributeChanges, mode: number): AttributeChanges {
  return { ...changes, mode: changes.mode ?? mode, sizeBytes: undefined };
}

export const access: Procedure3 = {
  name: 'ACCESS',
  onFailure: ['attributes'],
  async run(request) {
    const handle = request.handleArgument();
    const wanted = request.args.u32();
    const place = await request.place(handle);
    const attributes = await place.filesystem.attributes(place.file);
    const granted = await place.filesystem.access(place.as, place.file);
    const bits = accessBits(granted, attributes.type === 'directory', place.access.readOnly);
    request.ok();
    request.attributes(place, attributes);
    request.reply.u32(wanted & bits);
  },
};

/** The bits of ACCESS, the same in versions 3 and 4. */
export function accessBits(granted: number, isDirectory: boolean, readOnly: boolean): number {
  let bits = 0;
  if ((granted & Access.read) !== 0) bits |= AccessBits.read;
  if ((granted & Access.execute) !== 0) bits |= isDirectory ? AccessBits.lookup : AccessBits.execute;
  if ((granted & Access.write) !== 0 && !readOnly) {
    bits |= AccessBits.modify | AccessBits.extend | (isDirectory ? AccessBits.delete : 0);
  }
  return bits;
}
