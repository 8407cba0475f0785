import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Option } from 'commander';
import type { GranaryCommand } from '../command.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import { copyOfRunning, runningParts } from '../services/control.ts';
import { fromEnvironment } from '../services/options.ts';
import { print, printToStderr, type Terminal } from '../terminal.ts';
import { version } from '../version.ts';
import { copyDrive, digestOf, isDatabase, isSecret, listFiles, syncOne, syncTree } from './files.ts';
import { MANIFEST, MANIFEST_VERSION, PREFIX, UNFINISHED, type BackedUpArray, type BackedUpFile } from './manifest.ts';
import { addPassphraseOption, readPassphrase } from './passphrase.ts';

interface BackupOptions {
  readonly data: string;
  readonly to: string;
  readonly withDrives?: boolean;
  readonly passphraseFile?: string;
}

export function addBackup(program: GranaryCommand, terminal: Terminal): void {
  const command = program.command('backup');
  command.description('Back up an installation on this machine, running or stopped: databases, keys and configuration');
  command.requiredOption('--to <folder>', 'Where backups go; each gets a folder of its own there');
  const data = new Option('--data <folder>', 'Where Granary keeps everything');
  command.addOption(fromEnvironment(data, terminal, 'GRANARY_DATA', './granary-data'));
  command.option('--with-drives', 'Also copy the drives of arrays that are hibernated or stopped');
  addPassphraseOption(command);
  command.action(async (options: BackupOptions) => backup(options, terminal));
}

async function backup(options: BackupOptions, terminal: Terminal): Promise<void> {
  const source = resolve(options.data);
  if (!existsSync(join(source, 'portal')) && !existsSync(join(source, 'cloud')))
    throw new CommandFailure(exitCodes.notFound, `${source} holds no data of Granary; name its folder with --data.`);
  const wrapper = await wrapperOf(readPassphrase(options, terminal));
  const target = resolve(options.to);
  mkdirSync(target, { recursive: true, mode: 0o700 });
  removeUnfinished(target);
  const madeAt = new Date().toISOString();
  const finished = join(target, `${PREFIX}${madeAt.replace(/[-:]|\.\d+/g, '')}`);
  if (existsSync(finished)) throw new CommandFailure(exitCodes.failed, `${finished} exists; try again in a second.`);
  const folder = `${finished}${UNFINISHED}`;
  mkdirSync(folder, { mode: 0o700 });
  const parts = (await runningParts(source)) ?? [];
  const states = new ArrayRunStates(source);
  const files: BackedUpFile[] = [];
  for (const path of listFiles(source)) {
    const written = await copyOne({ source, folder, path, parts, states, wrapper });
    if (written === undefined) continue;
    const copy = join(folder, written);
    files.push({
      path,
      bytes: statSync(copy).size,
      sha256: await digestOf(copy),
      ...(written !== path && { wrapped: true as const }),
    });
  }
  const arrays = await states.finish(folder, options.withDrives === true);
  const wrapping = wrapper && { wrapping: wrapper.verifier };
  const manifest = { version: MANIFEST_VERSION, granary: version, madeAt, source, ...wrapping, files, arrays };
  writeFileSync(join(folder, MANIFEST), `${JSON.stringify(manifest, undefined, 2)}\n`, { mode: 0o600 });
  syncTree(folder);
  renameSync(folder, finished);
  syncOne(target);
  print(terminal, `Backed up to ${finished}: ${files.length} files, ${arrays.length} arrays.`);
  for (const { name, displayName, missing } of arrays)
    for (const what of missing) print(terminal, `  ${displayName} (${name}): ${what}`);
  if (!wrapper)
    printToStderr(
      terminal,
      'Warning: the backup holds the keys unencrypted; anyone who can read it can read every secret. Keep it safe, or give --passphrase-file.',
    );
}

interface Wrapper {
  readonly verifier: { readonly salt: string; readonly mark: string };
  wrap(bytes: Buffer): string;
}

async function wrapperOf(passphrase: string | undefined): Promise<Wrapper | undefined> {
  if (passphrase === undefined) return undefined;
  const { deriveKey, wrapKey } = await import('@granary/kernel');
  const { wrapping, verifier } = await deriveKey(passphrase);
  return { verifier, wrap: (bytes) => wrapKey(wrapping, bytes) };
}

interface CopyPlan {
  readonly source: string;
  readonly folder: string;
  readonly path: string;
  readonly parts: readonly string[];
  readonly states: ArrayRunStates;
  readonly wrapper: Wrapper | undefined;
}

const OWN_PART: Readonly<Record<string, string>> = { 'portal/portal.db': 'portal', 'cloud/cloud.db': 'cloud' };

/** The path of the copy in the backup; undefined when the file is not in it. */
async function copyOne({ source, folder, path, parts, states, wrapper }: CopyPlan): Promise<string | undefined> {
  const [from, to] = [join(source, path), join(folder, path)];
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  const part = OWN_PART[path];
  if (part !== undefined) {
    if (parts.includes(part)) await copyOfRunning(source, part, to);
    else await copyStopped(from, to);
    return path;
  }
  if (isDatabase(path)) return (await states.copyDatabase(path, to)) ? path : undefined;
  if (isSecret(path) && wrapper) {
    writeFileSync(`${to}.wrapped`, wrapper.wrap(readFileSync(from)), { mode: 0o600 });
    return `${path}.wrapped`;
  }
  copyFileSync(from, to);
  return path;
}

/** A database that no process has open, with the log that belongs to it. */
async function copyStopped(from: string, to: string): Promise<void> {
  const { checkBeforeOpen, finishCopy } = await import('@granary/kernel');
  const { backup: copy, DatabaseSync } = await import('node:sqlite');
  checkBeforeOpen(from);
  const database = new DatabaseSync(from, { timeout: 1000, readOnly: true });
  try {
    await copy(database, to);
  } finally {
    database.close();
  }
  await finishCopy(to);
}

const ARRAY_PATH = /^cloud\/arrays\/(vsa-[0-9a-f]{8})\/(.+)$/;
const MAIN = /^(array|objects)\.db$/;

/** Whether each array runs decides what of it can be copied: a running one has its databases locked. */
class ArrayRunStates {
  readonly #source: string;
  readonly #running = new Map<string, boolean>();
  readonly #missing = new Map<string, string[]>();

  constructor(source: string) {
    this.#source = source;
  }

  async copyDatabase(path: string, to: string): Promise<boolean> {
    const [, name = '', rest = ''] = ARRAY_PATH.exec(path) ?? [];
    const from = join(this.#source, path);
    if (!(await this.#isRunning(name))) {
      await copyStopped(from, to);
      return true;
    }
    const { listCopies } = await import('@granary/kernel');
    const newest = MAIN.test(rest) ? listCopies(from)[0] : undefined;
    if (!newest) {
      this.#miss(name, `${rest} is not included: the array runs`);
      return false;
    }
    copyFileSync(newest.path, to);
    this.#miss(name, `${rest} is as of ${new Date(newest.madeAt).toISOString()}: the array runs`);
    return true;
  }

  async finish(folder: string, withDrives: boolean): Promise<BackedUpArray[]> {
    const arrays = join(this.#source, 'cloud', 'arrays');
    const names = existsSync(arrays) ? readdirSync(arrays).filter((name) => name.startsWith('vsa-')) : [];
    const found: BackedUpArray[] = [];
    for (const name of names.sort()) {
      const { displayName, drives } =
        recordOf(join(arrays, name)) ?? recordInCloud(join(folder, 'cloud', 'cloud.db'), name);
      const isRunning = await this.#isRunning(name);
      const isIncluded = withDrives && !isRunning;
      if (isIncluded) for (const drive of drives) await copyDrive(join(this.#source, drive), join(folder, drive));
      else if (drives.length > 0)
        this.#miss(
          name,
          `its ${drives.length} drives are not included: ${isRunning ? 'the array runs; hibernate it and give --with-drives' : 'give --with-drives'}`,
        );
      const missing = this.#missing.get(name) ?? [];
      found.push({ name, displayName, drives: isIncluded ? drives : [], missing });
    }
    return found;
  }

  async #isRunning(name: string): Promise<boolean> {
    const known = this.#running.get(name);
    if (known !== undefined) return known;
    const { isOpenElsewhere } = await import('@granary/kernel');
    const folder = join(this.#source, 'cloud', 'arrays', name);
    const isRunning = ['array.db', 'objects.db'].some((file) => isOpenElsewhere(join(folder, file)));
    this.#running.set(name, isRunning);
    return isRunning;
  }

  #miss(name: string, what: string): void {
    this.#missing.set(name, [...(this.#missing.get(name) ?? []), what]);
  }
}

interface Hosting {
  readonly array: { readonly spec: string };
  readonly drives: readonly { readonly uuid: string; readonly node: string }[];
}

interface ArrayRecord {
  readonly displayName: string;
  readonly drives: string[];
}

function recordOf(folder: string): ArrayRecord | undefined {
  const file = join(folder, 'hosting.json');
  if (!existsSync(file)) return undefined;
  const { array, drives } = JSON.parse(readFileSync(file, 'utf8')) as Hosting;
  return arrayRecord(array.spec, drives);
}

/** The folder of an array that only an older version has run has no record of its own. */
function recordInCloud(file: string, name: string): ArrayRecord {
  using database = new DatabaseSync(file, { readOnly: true });
  const number = Number.parseInt(name.slice('vsa-'.length), 16);
  const array = database.prepare('SELECT spec FROM arrays WHERE number = ?').get(number);
  const drives = database.prepare('SELECT uuid, node FROM drives WHERE array = ? AND has_file = 1').all(number);
  if (!array) return { displayName: 'unknown', drives: [] };
  return arrayRecord(String(array['spec']), drives as unknown as Hosting['drives']);
}

function arrayRecord(spec: string, drives: Hosting['drives']): ArrayRecord {
  const { name } = JSON.parse(spec) as { name: string };
  return { displayName: name, drives: drives.map(({ uuid, node }) => `cloud/nodes/${node}/${uuid}.drive`) };
}

/** What a backup that was cut off left behind. */
function removeUnfinished(target: string): void {
  for (const name of readdirSync(target))
    if (name.startsWith(PREFIX) && name.endsWith(UNFINISHED)) rmSync(join(target, name), { recursive: true });
}
