import { badParameter, fail, type Db, type Tx } from '@granary/kernel';
import { findExportHolder, findShare, writeExportNames } from './repository.ts';
import { shareOf } from './rules.ts';

const EXPORT_NAMES_MAX = 32;
const NAME_CHARACTERS_MAX = 80;
const NAME_BYTES_MAX = 255;
const SIMILAR_MAX = 10_000;
/** What neither a path nor a share of SMB can hold. */
const UNUSABLE = /[/\\"[\]:|<>+=;,*?\p{Cc}]/gu;

/** Why it cannot be the name of an export; undefined if it can. */
function problemOf(name: string): string | undefined {
  if (name.search(UNUSABLE) >= 0) return 'must not contain / \\ " [ ] : | < > + = ; , * ? or control characters';
  if (name === '.' || name === '..' || name.trim() !== name || name === '')
    return 'must not be a dot or two, nor begin or end with a space';
  if (name.length > NAME_CHARACTERS_MAX || Buffer.byteLength(name) > NAME_BYTES_MAX)
    return `must have at most ${NAME_CHARACTERS_MAX} characters`;
  return undefined;
}

function checkExportName(parameter: string, name: string): void {
  const problem = problemOf(name);
  if (problem !== undefined) throw badParameter(parameter, problem);
}

/** By default a share is exported under its own name. */
export function exportNameOf(displayName: string, chosen: string | undefined): string {
  if (chosen !== undefined) {
    checkExportName('export_name', chosen);
    return chosen;
  }
  const problem = problemOf(displayName);
  if (problem === undefined) return displayName;
  const why = `the name ${JSON.stringify(displayName)} cannot serve as one, which ${problem}`;
  throw badParameter('export_name', `must be given: ${why}`);
}

export function refuseTakenExport(db: Db, name: string): void {
  const holder = findExportHolder(db, name);
  if (holder !== undefined) throw fail('name_taken', { name });
}

/** The name itself, or a similar one that is free: for shares that are made of others. */
export function similarExportName(db: Db, displayName: string): string {
  const clean = cut(displayName.replaceAll(UNUSABLE, '-').trim(), NAME_CHARACTERS_MAX);
  const usable = problemOf(clean) === undefined ? clean : 'share';
  for (let n = 1; n <= SIMILAR_MAX; n += 1) {
    const ending = n === 1 ? '' : `-${n}`;
    const candidate = cut(usable, NAME_CHARACTERS_MAX - ending.length) + ending;
    if (findExportHolder(db, candidate) === undefined) return candidate;
  }
  throw fail('name_taken', { name: displayName });
}

/** Of a share that is there again. A name that another has by now is replaced by one like it. */
export function holdExportNames(tx: Tx, volume: string): void {
  const names = findShare(tx, volume)?.exportNames ?? [];
  const held: string[] = [];
  for (const name of names) {
    held.push(similarExportName(tx, name));
    writeExportNames(tx, volume, held);
  }
}

/** The names of a share after one of them changed. In the transaction that records it. */
export function renameExport(tx: Tx, volume: string, name: string): void {
  const [primary, ...others] = shareOf(tx, volume).exportNames;
  checkExportName('exportname', name);
  if (name === primary) return;
  // One of its own further names may become the primary one.
  const isOwn = others.includes(name);
  if (!isOwn && name.toLowerCase() !== primary?.toLowerCase()) refuseTakenExport(tx, name);
  writeExportNames(tx, volume, [name, ...others.filter((other) => other !== name)]);
}

export function addExport(tx: Tx, volume: string, name: string): void {
  const names = shareOf(tx, volume).exportNames;
  checkExportName('exportname', name);
  refuseTakenExport(tx, name);
  if (names.length >= EXPORT_NAMES_MAX) throw fail('export_names_limit', { max: EXPORT_NAMES_MAX });
  writeExportNames(tx, volume, [...names, name]);
}

export function removeExport(tx: Tx, volume: string, name: string): void {
  const [primary, ...others] = shareOf(tx, volume).exportNames;
  if (name === primary)
    throw badParameter('exportname', 'is the primary name of the share; give it another one with PUT export_name');
  if (!others.includes(name)) throw fail('nothing_to_delete');
  writeExportNames(tx, volume, [primary ?? name, ...others.filter((other) => other !== name)]);
}

function cut(text: string, charactersMax: number): string {
  return text.slice(0, charactersMax).toWellFormed().trimEnd();
}
