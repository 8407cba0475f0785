import { FileError } from '../../filesystem.ts';
import { AuthFlavor } from '../../rpc/message.ts';
import type { XdrWriter } from '../../xdr/writer.ts';
import { Nfs4Error, Status4 } from '../status.ts';
import { checkName4, HANDLE_BYTES_MAX, mustBeDirectory, readName, type Operation } from './operation.ts';

const PARENT = Buffer.from('..');

export const putFileHandle: Operation = async (compound, args) => {
  const handle = args.opaque(HANDLE_BYTES_MAX);
  compound.moveTo(await compound.server.namespace.resolve(handle, compound.call));
};

export const putRootFileHandle: Operation = (compound) => {
  compound.moveTo(compound.server.namespace.root(compound.call));
};

export const getFileHandle: Operation = async (compound, _args, reply) => {
  const { place } = compound;
  // A handle is given out only of what is there.
  await place.filesystem.attributes(place.file);
  reply.opaque(compound.server.namespace.handle(place));
};

export const saveFileHandle: Operation = (compound) => {
  compound.saved = compound.place;
  compound.savedState = compound.currentState;
};

export const restoreFileHandle: Operation = (compound) => {
  compound.moveTo(compound.savedPlace);
  compound.currentState = compound.savedState;
};

export const lookup: Operation = async (compound, args) => {
  const name = readName(args);
  const { place } = compound;
  await mustBeDirectory(place);
  checkName4(place, name);
  compound.moveTo((await compound.server.namespace.lookup(place, compound.call, name)).place);
};

export const lookupParent: Operation = async (compound) => {
  const { place, server } = compound;
  await mustBeDirectory(place);
  const isTop = place.kind === 'pseudo' && place.file.inode === place.filesystem.root.inode;
  if (isTop) throw new FileError('ENOENT', 'there is nothing above the root');
  compound.moveTo((await server.namespace.lookup(place, compound.call, PARENT)).place);
};

function writeFlavors(reply: XdrWriter): void {
  reply.array([AuthFlavor.sys, AuthFlavor.none], (flavor) => reply.u32(flavor));
}

export const securityInfo: Operation = async (compound, args, reply) => {
  const name = readName(args);
  const { place } = compound;
  await mustBeDirectory(place);
  checkName4(place, name);
  await compound.server.namespace.lookup(place, compound.call, name);
  // 4.1 consumes the file handle, so that later operations cannot use it by mistake.
  if (compound.minorVersion > 0) compound.current = undefined;
  writeFlavors(reply);
};

const Style = { current: 0, parent: 1 } as const;

export const securityInfoNoName: Operation = async (compound, args, reply) => {
  const style = args.u32();
  if (style > Style.parent) throw new Nfs4Error(Status4.badXdr);
  if (style === Style.parent) await lookupParent(compound, args, reply);
  else await compound.place.filesystem.attributes(compound.place.file);
  compound.current = undefined;
  writeFlavors(reply);
};
