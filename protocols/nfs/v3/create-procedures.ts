import { FileError, fileErrorCode, type AttributeChanges, type Created, type NewFile } from '../filesystem.ts';
import { moved, type Place } from '../namespace/namespace.ts';
import { checkNewName, createExclusive, mustBeWritable } from '../operations.ts';
import { XdrError } from '../xdr/reader.ts';
import { checkTruncation, creationChanges } from './attribute-procedures.ts';
import { readAttributeChanges, typeOfNumber, writeChange } from './attributes.ts';
import type { Procedure3, Request3 } from './procedure.ts';
import { Nfs3Error, Status3 } from './status.ts';

const FILE_MODE = 0o644;
const DIRECTORY_MODE = 0o755;
const SYMLINK_MODE = 0o777;
const VERIFIER_BYTES = 8;
const How = { unchecked: 0, guarded: 1, exclusive: 2 } as const;

async function directoryFor(request: Request3, handle: Buffer, name: Buffer): Promise<Place> {
  const place = await request.place(handle);
  mustBeWritable(place);
  checkNewName(place, name);
  return place;
}

function answer(request: Request3, directory: Place, { attributes, directory: change }: Created): void {
  const place = moved(directory, attributes);
  request.ok().bool(true);
  request.handle(place);
  request.attributes(place, attributes);
  writeChange(request.reply, directory.filesystem.id, change);
}

function make(place: Place, name: Buffer, file: NewFile, changes: AttributeChanges): Promise<Created> {
  return Promise.resolve(place.filesystem.create(place.as, place.file, name, file, changes));
}

export const create: Procedure3 = {
  name: 'CREATE',
  isReplayed: true,
  onFailure: ['change'],
  async run(request) {
    const { args } = request;
    const [handle, name, how] = [request.handleArgument(), request.nameArgument(), args.u32()];
    if (how === How.exclusive) {
      const verifier = args.fixed(VERIFIER_BYTES);
      const directory = await directoryFor(request, handle, name);
      answer(request, directory, await createExclusive(directory, name, verifier, { mode: 0o600 }));
      return;
    }
    if (how > How.exclusive) throw new XdrError(`${how} is no way to create a file`);
    const changes = readAttributeChanges(args);
    const directory = await directoryFor(request, handle, name);
    try {
      answer(request, directory, await make(directory, name, { type: 'file' }, creationChanges(changes, FILE_MODE)));
    } catch (error) {
      if (fileErrorCode(error) !== 'EEXIST' || how === How.guarded) throw error;
      answer(request, directory, await useExisting(request, directory, name, changes));
    }
  },
};

/** An unchecked create of a file that is there: of its attributes only the size is set. */
async function useExisting(
  request: Request3,
  directory: Place,
  name: Buffer,
  { sizeBytes }: AttributeChanges,
): Promise<Created> {
  const { filesystem, as, file } = directory;
  let attributes = await filesystem.lookup(as, file, name);
  if (attributes.type !== 'file') throw new FileError('EEXIST');
  if (sizeBytes !== undefined) {
    await checkTruncation(request, moved(directory, attributes), sizeBytes);
    attributes = (await filesystem.setAttributes(as, attributes, { sizeBytes })).after;
  }
  const unchanged = await filesystem.attributes(file);
  return { attributes, directory: { before: unchanged, after: unchanged } };
}

export const makeDirectory: Procedure3 = {
  name: 'MKDIR',
  isReplayed: true,
  onFailure: ['change'],
  async run(request) {
    const [handle, name] = [request.handleArgument(), request.nameArgument()];
    const changes = readAttributeChanges(request.args);
    const directory = await directoryFor(request, handle, name);
    const created = await make(directory, name, { type: 'directory' }, creationChanges(changes, DIRECTORY_MODE));
    answer(request, directory, created);
  },
};

export const makeSymlink: Procedure3 = {
  name: 'SYMLINK',
  isReplayed: true,
  onFailure: ['change'],
  async run(request) {
    const [handle, name] = [request.handleArgument(), request.nameArgument()];
    const changes = readAttributeChanges(request.args);
    const target = Buffer.from(request.args.opaque(request.server.limits.directoryBytesMax));
    const directory = await directoryFor(request, handle, name);
    checkTarget(directory, target);
    const created = await make(directory, name, { type: 'symlink', target }, creationChanges(changes, SYMLINK_MODE));
    answer(request, directory, created);
  },
};

export function checkTarget({ filesystem }: Place, target: Buffer): void {
  if (target.length > filesystem.limits.symlinkBytesMax) throw new FileError('ENAMETOOLONG');
  if (target.length === 0 || target.includes(0)) throw new FileError('EINVAL');
}

export const makeNode: Procedure3 = {
  name: 'MKNOD',
  isReplayed: true,
  onFailure: ['change'],
  async run(request) {
    const { args } = request;
    const [handle, name] = [request.handleArgument(), request.nameArgument()];
    const type = typeOfNumber(args.u32());
    if (type === 'file' || type === 'directory' || type === 'symlink' || type === undefined || type === '') {
      await request.place(handle);
      throw new Nfs3Error(Status3.badType);
    }
    const changes = creationChanges(readAttributeChanges(args), FILE_MODE);
    const isDevice = type === 'block' || type === 'character';
    const file: NewFile = isDevice ? { type, device: { major: args.u32(), minor: args.u32() } } : { type };
    const directory = await directoryFor(request, handle, name);
    answer(request, directory, await make(directory, name, file, changes));
  },
};
