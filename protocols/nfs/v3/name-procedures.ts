import { checkName, checkNewName, checkOldName, isDot, mustBeSameFilesystem, mustBeWritable } from '../operations.ts';
import { FileError } from '../filesystem.ts';
import { writeChange } from './attributes.ts';
import type { Procedure3, Request3 } from './procedure.ts';

export const lookup: Procedure3 = {
  name: 'LOOKUP',
  onFailure: ['attributes'],
  async run(request) {
    const [handle, name] = [request.handleArgument(), request.nameArgument()];
    const directory = await request.place(handle);
    const { namespace } = request.server;
    checkName(directory, name);
    const { filesystem, file } = directory;
    const found = isDot(name)
      ? { place: directory, attributes: await filesystem.attributes(file) }
      : await namespace.lookup(directory, request.call, name);
    if (isDot(name) && found.attributes.type !== 'directory') throw new FileError('ENOTDIR');
    // Above its exports the server is not there for version 3.
    if (found.place.kind === 'pseudo') throw new FileError('EACCES');
    request.ok();
    request.handle(found.place);
    request.attributes(found.place, found.attributes);
    await request.currentAttributes(directory);
  },
};

export const readSymlink: Procedure3 = {
  name: 'READLINK',
  onFailure: ['attributes'],
  async run(request) {
    const place = await request.place(request.handleArgument());
    const target = await place.filesystem.readSymlink(place.file);
    request.ok();
    await request.currentAttributes(place);
    request.reply.opaque(target);
  },
};

async function removeName(request: Request3, what: 'file' | 'directory'): Promise<void> {
  const [handle, name] = [request.handleArgument(), request.nameArgument()];
  const place = await request.place(handle);
  mustBeWritable(place);
  checkOldName(place, name);
  const change = await place.filesystem.remove(place.as, place.file, name, what);
  writeChange(request.ok(), place.filesystem.id, change);
}

export const remove: Procedure3 = {
  name: 'REMOVE',
  isReplayed: true,
  onFailure: ['change'],
  run: (request) => removeName(request, 'file'),
};

export const removeDirectory: Procedure3 = {
  name: 'RMDIR',
  isReplayed: true,
  onFailure: ['change'],
  run: (request) => removeName(request, 'directory'),
};

export const rename: Procedure3 = {
  name: 'RENAME',
  isReplayed: true,
  onFailure: ['change', 'change'],
  async run(request) {
    const [fromHandle, oldName] = [request.handleArgument(), request.nameArgument()];
    const [toHandle, newName] = [request.handleArgument(), request.nameArgument()];
    const from = await request.place(fromHandle);
    const to = await request.place(toHandle);
    mustBeSameFilesystem(from, to);
    mustBeWritable(from);
    checkOldName(from, oldName);
    checkOldName(to, newName);
    const change = await from.filesystem.rename(from.as, from.file, oldName, to.file, newName);
    request.ok();
    writeChange(request.reply, from.filesystem.id, change.from);
    writeChange(request.reply, to.filesystem.id, change.to);
  },
};

export const link: Procedure3 = {
  name: 'LINK',
  isReplayed: true,
  onFailure: ['attributes', 'change'],
  async run(request) {
    const handle = request.handleArgument();
    const [directoryHandle, name] = [request.handleArgument(), request.nameArgument()];
    const place = await request.place(handle);
    const directory = await request.place(directoryHandle);
    mustBeSameFilesystem(place, directory);
    mustBeWritable(directory);
    checkNewName(directory, name);
    const created = await place.filesystem.link(place.as, place.file, directory.file, name);
    request.ok();
    request.attributes(place, created.attributes);
    writeChange(request.reply, directory.filesystem.id, created.directory);
  },
};
