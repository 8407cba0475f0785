import { type Attributes, type Entry, type Filesystem, FsError } from '@granary/storage/filesystem';
import type { Work } from '../../../work.ts';
import { EngineError } from '../../../errors.ts';
import { RECYCLE_BIN, type FileVersion } from '../../../shares.ts';
import { isFsError, lookup, SUPERUSER } from './paths.ts';

/**
 * The recycle bin of a share is a directory of its root. What came to it in the same second is below a directory named
 * after that time, at the path it had:
 *
 *     .recycle/2026-11-18_09-25-00/projects/plan.txt
 *
 * Directories have the owners and modes of those the files came from, so that no user reads in the bin what they could not
 * read before.
 */
const BIN = RECYCLE_BIN;

const PAGE = 128;
const SECOND_MS = 1000;
const TIME = /^(\d{4}-\d\d-\d\d)_(\d\d)-(\d\d)-(\d\d)$/;

/** False if it is another version by now. A file with several names loses all of them; in the bin it has one. */
export async function expire(
  filesystem: Filesystem,
  file: FileVersion,
  toBin: boolean,
  nowMs: number,
): Promise<boolean> {
  try {
    let { links, change } = await current(filesystem, file, file.change);
    for (; links > (toBin ? 1 : 0); links -= 1) {
      await removeName(filesystem, file, change);
      if (links > 1) ({ change } = await filesystem.attributes(file.inode, file.generation));
    }
    if (toBin) await moveToBin(filesystem, { ...file, change }, nowMs);
    return true;
  } catch (error) {
    if (error instanceof AnotherVersion || isFsError(error, 'ESTALE', 'ENOENT')) return false;
    throw error;
  }
}

class AnotherVersion extends Error {}

async function moveToBin(filesystem: Filesystem, file: FileVersion, nowMs: number): Promise<void> {
  const path = (await filesystem.pathOf(file.inode)).toString('latin1');
  const { project, parent } = await current(filesystem, file, file.change);
  const names = path
    .split('/')
    .slice(1)
    .map((name) => Buffer.from(name, 'latin1'));
  const name = names.pop() as Buffer;
  const bin = await makeBin(filesystem, nowMs);
  const place = await copyDirectories(filesystem, bin, names);
  const isTaken = (await lookup(filesystem, place, name)) !== undefined;
  const inBin = isTaken ? Buffer.concat([name, Buffer.from(`~${file.inode}`)]) : name;
  // What is in the bin counts for no project: a rename out of one is refused otherwise.
  if (project !== place.project) await filesystem.quotas.setProject(SUPERUSER, file.inode, place.project);
  const { change } = await filesystem.attributes(file.inode, file.generation);
  if (change > file.change + 1) throw new AnotherVersion();
  await filesystem.rename(SUPERUSER, { directory: parent, name }, { directory: place.inode, name: inBin });
}

/** The check and the removal are one step where what they need is in memory. */
async function removeName(filesystem: Filesystem, file: FileVersion, change: number): Promise<void> {
  const path = await filesystem.pathOf(file.inode);
  const name = path.subarray(path.lastIndexOf('/') + 1);
  const found = current(filesystem, file, change);
  const { parent } = found instanceof Promise ? await found : found;
  await filesystem.unlink(SUPERUSER, parent, name);
}

function current(
  filesystem: Filesystem,
  { inode, generation }: FileVersion,
  change: number,
): Attributes | Promise<Attributes> {
  const check = (found: Attributes) => {
    if (found.change !== change) throw new AnotherVersion();
    return found;
  };
  const found = filesystem.attributes(inode, generation);
  return found instanceof Promise ? found.then(check) : check(found);
}

async function makeBin(filesystem: Filesystem, nowMs: number): Promise<Attributes> {
  const root = await filesystem.attributes(filesystem.root);
  const owner = { mode: 0o755, uid: 0, gid: 0 };
  const bin = await makeDirectory(filesystem, root, Buffer.from(BIN), owner);
  return makeDirectory(filesystem, bin, Buffer.from(timeName(nowMs)), owner);
}

/** The directories on the way to a file, below the bin. */
async function copyDirectories(filesystem: Filesystem, bin: Attributes, names: readonly Buffer[]): Promise<Attributes> {
  let from = await filesystem.attributes(filesystem.root);
  let to = bin;
  for (const name of names) {
    from = await filesystem.lookup(SUPERUSER, from.inode, name);
    to = await makeDirectory(filesystem, to, name, from);
  }
  return to;
}

async function makeDirectory(
  filesystem: Filesystem,
  directory: Attributes,
  name: Buffer,
  { mode, uid, gid }: Pick<Attributes, 'mode' | 'uid' | 'gid'>,
): Promise<Attributes> {
  const found = await lookup(filesystem, directory, name);
  if (found?.type === 'directory') return found;
  if (found !== undefined) throw new FsError('ENOTDIR', `${name.toString()} in the recycle bin is no directory.`);
  try {
    const made = await filesystem.create(SUPERUSER, directory.inode, name, { type: 'directory', mode });
    return uid === made.uid && gid === made.gid
      ? made
      : await filesystem.setAttributes(SUPERUSER, made.inode, { uid, gid });
  } catch (error) {
    if (!isFsError(error, 'EEXIST')) throw error;
    return filesystem.lookup(SUPERUSER, directory.inode, name);
  }
}

/** How many files were deleted. */
export async function purge(filesystem: Filesystem, beforeMs: number, work: Work): Promise<number> {
  const root = await filesystem.attributes(filesystem.root);
  const bin = await lookup(filesystem, root, Buffer.from(BIN));
  if (bin?.type !== 'directory') return 0;
  const due = (await listAll(filesystem, bin.inode)).filter(
    ({ name }) => (timeOf(name.toString()) ?? Infinity) + SECOND_MS <= beforeMs,
  );
  let files = 0;
  for (const [index, { name, inode }] of due.entries()) {
    files += await removeTree(filesystem, inode, work);
    await filesystem.removeDirectory(SUPERUSER, bin.inode, name);
    work.onProgress?.((index + 1) / due.length);
  }
  return files;
}

async function removeTree(filesystem: Filesystem, directory: number, work: Work): Promise<number> {
  let files = 0;
  for (
    let entries = await list(filesystem, directory);
    entries.length > 0;
    entries = await list(filesystem, directory)
  ) {
    if (work.signal?.aborted === true) throw new EngineError('cancelled', 'It was cancelled.');
    const directories = entries.filter(({ type }) => type === 'directory');
    for (const { inode, name } of directories) {
      files += await removeTree(filesystem, inode, work);
      await filesystem.removeDirectory(SUPERUSER, directory, name);
    }
    const others = entries.filter(({ type }) => type !== 'directory');
    await Promise.all(others.map(({ name }) => filesystem.unlink(SUPERUSER, directory, name)));
    files += others.length;
  }
  return files;
}

async function list(filesystem: Filesystem, directory: number) {
  return (await filesystem.readDirectory(SUPERUSER, directory, 0, PAGE)).entries;
}

async function listAll(filesystem: Filesystem, directory: number): Promise<Entry[]> {
  const all: Entry[] = [];
  for (let isDone = false; !isDone;) {
    const page = await filesystem.readDirectory(SUPERUSER, directory, all.at(-1)?.cookie ?? 0, PAGE);
    all.push(...page.entries);
    isDone = page.isEnd;
  }
  return all;
}

function timeName(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', '_').replaceAll(':', '-');
}

function timeOf(name: string): number | undefined {
  const [, day, hour, minute, second] = TIME.exec(name) ?? [];
  return day === undefined ? undefined : Date.parse(`${day}T${hour}:${minute}:${second}Z`);
}
