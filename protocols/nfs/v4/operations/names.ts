import { FileError, fileErrorCode, type NewFile } from '../../filesystem.ts';
import { moved } from '../../namespace/namespace.ts';
import { mustBeSameFilesystem, mustBeWritable } from '../../operations.ts';
import { checkTarget } from '../../v3/create-procedures.ts';
import type { XdrReader } from '../../xdr/reader.ts';
import { decodeAttributes, readEncoded } from '../attributes/decode.ts';
import { Nfs4Error, Status4 } from '../status.ts';
import { applyAttributes } from './attributes.ts';
import { checkName4, mustBeDirectory, readName, writeChangeInfo, type Operation } from './operation.ts';

const TARGET_BYTES_MAX = 64 * 1024;
const Type = { directory: 2, block: 3, character: 4, symlink: 5, socket: 6, fifo: 7 } as const;
const MODE_DEFAULT = { directory: 0o755, symlink: 0o777, other: 0o644 } as const;

function readNewFile(args: XdrReader): NewFile {
  const type = args.u32();
  if (type === Type.directory) return { type: 'directory' };
  if (type === Type.symlink) return { type: 'symlink', target: Buffer.from(args.opaque(TARGET_BYTES_MAX)) };
  if (type === Type.socket) return { type: 'socket' };
  if (type === Type.fifo) return { type: 'fifo' };
  if (type !== Type.block && type !== Type.character) throw new Nfs4Error(Status4.badType);
  const device = { major: args.u32(), minor: args.u32() };
  return { type: type === Type.block ? 'block' : 'character', device };
}

/** Makes everything that is not a regular file. */
export const create: Operation = async (compound, args, reply) => {
  const { place, server, minorVersion } = compound;
  const file = readNewFile(args);
  const [name, encoded] = [readName(args), readEncoded(args)];
  await mustBeDirectory(place);
  mustBeWritable(place);
  checkName4(place, name);
  if (file.type === 'symlink') checkTarget(place, file.target);
  const { bitmap, changes, aces } = await decodeAttributes(encoded, minorVersion, server.identities);
  const fallback = file.type === 'directory' || file.type === 'symlink' ? MODE_DEFAULT[file.type] : MODE_DEFAULT.other;
  const attributes = { ...changes, mode: changes.mode ?? fallback, sizeBytes: undefined };
  const made = await place.filesystem.create(place.as, place.file, name, file, attributes);
  const child = moved(place, made.attributes);
  if (aces !== undefined) await applyAttributes(compound, child, { bitmap, changes: {}, aces });
  compound.moveTo(child);
  writeChangeInfo(reply, made.directory);
  bitmap.write(reply);
};

export const remove: Operation = async (compound, args, reply) => {
  const name = readName(args);
  const { place } = compound;
  await mustBeDirectory(place);
  mustBeWritable(place);
  checkName4(place, name);
  writeChangeInfo(reply, await place.filesystem.remove(place.as, place.file, name, 'either'));
};

/** From the saved directory to the current one. */
export const rename: Operation = async (compound, args, reply) => {
  const [oldName, newName] = [readName(args), readName(args)];
  const { savedPlace: from, place: to } = compound;
  await mustBeDirectory(from);
  await mustBeDirectory(to);
  mustBeSameFilesystem(from, to);
  mustBeWritable(from);
  checkName4(from, oldName);
  checkName4(to, newName);
  try {
    const change = await from.filesystem.rename(from.as, from.file, oldName, to.file, newName);
    writeChangeInfo(reply, change.from);
    writeChangeInfo(reply, change.to);
  } catch (error) {
    // Version 4 has one answer where something that is there cannot be replaced.
    const code = fileErrorCode(error);
    throw code === 'EISDIR' || code === 'ENOTDIR' ? new Nfs4Error(Status4.exists) : error;
  }
};

/** The saved file gets a name in the current directory. */
export const link: Operation = async (compound, args, reply) => {
  const name = readName(args);
  const { savedPlace: linked, place: directory } = compound;
  await mustBeDirectory(directory);
  mustBeSameFilesystem(linked, directory);
  mustBeWritable(directory);
  checkName4(directory, name);
  const { type } = await linked.filesystem.attributes(linked.file);
  if (type === 'directory') throw new FileError('EISDIR');
  const made = await linked.filesystem.link(linked.as, linked.file, directory.file, name);
  writeChangeInfo(reply, made.directory);
};
