import assert from 'node:assert/strict';
import { FsError } from '../errors.ts';
import type { Filesystem } from '../filesystem.ts';
import type { Credentials } from '../files/access.ts';
import type { FilesystemModel, ModelNode, Operation } from './filesystem-model.ts';

export const SUPERUSER: Credentials = { uid: 0, gid: 0, groups: [] };

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'ünï', 'n'.repeat(255)];
const OFFSETS = [0, 1, 500, 1023, 1024, 4095, 4096, 5000, 8192, 20_000, 65_536, 100_000];

/** Numbers that choose an operation, given what is there. */
export interface Step {
  readonly kind: number;
  readonly which: number;
  readonly other: number;
  readonly at: number;
  readonly size: number;
}

export function randomStep(random: () => number): Step {
  const number = (): number => Math.floor(random() * 1_000_000);
  return { kind: number(), which: number(), other: number(), at: number(), size: number() };
}

/** What a step means for a model, below a directory. */
export function operationOf({ kind, which, other, at, size }: Step, model: FilesystemModel, below = ''): Operation {
  const paths = [...model.paths()].filter(([path]) => path.startsWith(below));
  const directories = paths.filter(([, node]) => node.type === 'directory');
  const files = paths.filter(([, node]) => node.type === 'file');
  const some = (list: [string, ModelNode][]): string => list[which % Math.max(list.length, 1)]?.[0] ?? `${below}/none`;
  const name = NAMES[other % NAMES.length] as string;
  // Now and then in something that is no directory, or that does not exist.
  const parents = at % 20 === 0 ? paths : directories;
  const place = `${parents[at % parents.length]?.[0] ?? below}/${name}`;
  const offset = at % 3 === 0 ? (OFFSETS[at % OFFSETS.length] as number) : at % 50_000;
  const length = 1 + (size % (size % 4 === 0 ? 30_000 : 3000));
  const inner = paths.filter(([path]) => path !== below);
  switch (kind % 20) {
    case 0:
    case 1:
    case 2:
      return { kind: 'create', path: place, type: 'file', target: '' };
    case 3:
      return { kind: 'create', path: place, type: 'directory', target: '' };
    case 4:
      return { kind: 'create', path: place, type: 'symlink', target: 't'.repeat(1 + (size % 4095)) };
    case 5:
      return { kind: 'create', path: place, type: size % 2 === 0 ? 'fifo' : 'socket', target: '' };
    case 6:
      return { kind: 'link', path: some(inner), to: place };
    case 7:
      return { kind: 'rename', path: some(inner), to: place };
    case 8:
      return { kind: 'unlink', path: some(inner) };
    case 9:
      return { kind: 'rmdir', path: some(size % 2 === 0 ? directories.filter(([path]) => path !== below) : inner) };
    case 10:
      return { kind: 'truncate', path: some(files), size: size % 5 === 0 ? 0 : offset };
    case 11:
      return { kind: size % 2 === 0 ? 'punch' : 'preallocate', path: some(files), offset, length };
    case 12:
      return size % 2 === 0
        ? { kind: 'chmod', path: some(inner), mode: size % 0o1000 }
        : { kind: 'chown', path: some(inner), uid: size % 3, gid: at % 3 };
    case 13: {
      const value = size % 3 === 0 ? undefined : 'v'.repeat(size % (size % 7 === 0 ? 9000 : 100));
      return { kind: 'xattr', path: some(inner), name: `user.${other % 4}`, value };
    }
    case 14:
      return { kind: 'archive', path: some(files) };
    case 15: {
      const ends = (['finished', 'abandoned', 'open'] as const)[size % 3] as 'finished' | 'abandoned' | 'open';
      const archived = files.filter(([, node]) => node.isArchived);
      return { kind: 'recall', path: some(at % 5 === 0 ? files : archived), ends };
    }
    default:
      return { kind: 'write', path: some(size % 10 === 0 ? inner : files), offset, data: pattern(size, length) };
  }
}

/** Performs it on the real filesystem. Returns its error. */
export async function perform(filesystem: Filesystem, operation: Operation): Promise<string | undefined> {
  try {
    await performOrThrow(filesystem, operation);
    return undefined;
  } catch (error) {
    if (error instanceof FsError) return error.code;
    throw error;
  }
}

async function performOrThrow(filesystem: Filesystem, operation: Operation): Promise<void> {
  const find = async (path: string): Promise<number> =>
    (await filesystem.resolve(SUPERUSER, Buffer.from(path === '' ? '/' : path), { followsLast: false })).inode;
  const placeOf = async (path: string): Promise<{ directory: number; name: Buffer }> => {
    const slash = path.lastIndexOf('/');
    return { directory: await find(path.slice(0, slash)), name: Buffer.from(path.slice(slash + 1)) };
  };
  if (operation.kind === 'create') {
    const { directory, name } = await placeOf(operation.path);
    const { type, target } = operation;
    const mode = type === 'symlink' ? 0o777 : 0o750;
    const node = { type, mode, ...(type === 'symlink' && { target: Buffer.from(target) }) };
    await filesystem.create(SUPERUSER, directory, name, node);
    return;
  }
  if (operation.kind === 'rename') {
    await filesystem.rename(SUPERUSER, await placeOf(operation.path), await placeOf(operation.to));
    return;
  }
  if (operation.kind === 'unlink' || operation.kind === 'rmdir') {
    const { directory, name } = await placeOf(operation.path);
    if (operation.kind === 'unlink') await filesystem.unlink(SUPERUSER, directory, name);
    else await filesystem.removeDirectory(SUPERUSER, directory, name);
    return;
  }
  const inode = await find(operation.path);
  if (operation.kind === 'link') {
    const { directory, name } = await placeOf(operation.to);
    await filesystem.link(SUPERUSER, inode, directory, name);
    return;
  }
  await changeInode(filesystem, inode, operation);
}

async function changeInode(filesystem: Filesystem, inode: number, operation: Operation): Promise<void> {
  switch (operation.kind) {
    case 'write':
      await filesystem.write(SUPERUSER, inode, operation.offset, operation.data);
      return;
    case 'truncate':
      await filesystem.setAttributes(SUPERUSER, inode, { size: operation.size });
      return;
    case 'punch':
      await filesystem.punch(SUPERUSER, inode, operation.offset, operation.length);
      return;
    case 'preallocate':
      await filesystem.preallocate(SUPERUSER, inode, operation.offset, operation.length);
      return;
    case 'archive':
      await archive(filesystem, inode);
      return;
    case 'recall':
      await recall(filesystem, inode, operation.ends);
      return;
    case 'chmod':
      await filesystem.setAttributes(SUPERUSER, inode, { mode: operation.mode });
      return;
    case 'chown':
      await filesystem.setAttributes(SUPERUSER, inode, { uid: operation.uid, gid: operation.gid });
      return;
    case 'xattr': {
      const name = Buffer.from(operation.name);
      if (operation.value === undefined) await filesystem.xattrs.remove(SUPERUSER, inode, name);
      else await filesystem.xattrs.set(SUPERUSER, inode, name, Buffer.from(operation.value));
      return;
    }
    default:
      throw new Error(`${operation.kind} is no change of an inode`);
  }
}

/** Contents that were archived, by their keys. */
const objects = new Map<string, Buffer>();
let archivings = 0;
const RECALL_BYTES = 6000;

async function archive(filesystem: Filesystem, inode: number): Promise<void> {
  const version = await filesystem.attributes(inode);
  const key = `object-${++archivings}`;
  if (!version.isArchived) objects.set(key, await contentsOf(filesystem, inode));
  const isDone = await filesystem.archives.archive(version, { destination: 'memory', key });
  assert.notEqual(isDone, version.isArchived);
}

async function recall(filesystem: Filesystem, inode: number, ends: 'finished' | 'abandoned' | 'open'): Promise<void> {
  const file = await filesystem.attributes(inode);
  const content = file.isArchived ? await contentsOf(filesystem, inode) : Buffer.alloc(1);
  const end = ends === 'finished' ? content.length : content.length / 2;
  for (let at = 0; at < end; at += RECALL_BYTES) {
    await filesystem.archives.writeRecalled(file, at, content.subarray(at, at + RECALL_BYTES));
  }
  if (ends === 'finished') await filesystem.archives.finishRecall(file);
  if (ends === 'abandoned') await filesystem.archives.abandonRecall(file);
}

/** Of a file, wherever they are. */
export async function contentsOf(filesystem: Filesystem, inode: number): Promise<Buffer> {
  const record = await filesystem.archives.get(inode);
  if (record !== undefined) return objects.get(record.key) as Buffer;
  const { size } = await filesystem.attributes(inode);
  const content = Buffer.alloc(size, 0xee);
  await filesystem.read(SUPERUSER, inode, 0, content);
  return content;
}

function pattern(seed: number, length: number): Buffer {
  const data = Buffer.alloc(length);
  for (let at = 0; at < length; at += 1) data[at] = 1 + ((seed + at * 7) % 255);
  return data;
}
