import { readdir } from 'node:fs/promises';
import type { Store } from '@granary/kernel';
import type { Config } from '../config/schema.ts';
import type { DriveFiles } from './drive-files.ts';
import type { Drive } from './drive.ts';
import { listDrives } from './repository.ts';

export interface BookedArray {
  readonly number: number;
  readonly internalName: string;
  /** Drives its spec asks for. */
  readonly drives: Readonly<Record<string, number>>;
}

interface CheckedInventory {
  readonly store: Store;
  readonly config: Config;
  readonly files: DriveFiles;
  /** Holds one folder an array. */
  readonly arraysFolder: string;
  readonly arrays: () => readonly BookedArray[];
}

/** Every difference between database and disk, in words; empty when there is none. */
export async function checkInventory({
  store,
  config,
  files,
  arraysFolder,
  arrays,
}: CheckedInventory): Promise<string[]> {
  const drives = store.read(listDrives);
  const booked = arrays();
  return [
    ...ownerProblems(drives, booked),
    ...stockProblems(drives, config),
    ...(await fileProblems(drives, files)),
    ...(await strayFiles(drives, files, config)),
    ...(await folderProblems(booked, arraysFolder)),
  ];
}

function ownerProblems(drives: readonly Drive[], arrays: readonly BookedArray[]): string[] {
  const byArray = Map.groupBy(drives, ({ array }) => array);
  const known = new Set(arrays.map(({ number }) => number));
  const orphans = drives.filter(({ array }) => array !== null && !known.has(array));
  return [
    ...orphans.map(({ uuid, array }) => `Drive ${uuid} belongs to array number ${array}, which does not exist.`),
    ...arrays.flatMap((array) => countProblems(array, byArray.get(array.number) ?? [])),
  ];
}

function countProblems({ internalName, drives }: BookedArray, has: readonly Drive[]): string[] {
  const types = new Set([...Object.keys(drives), ...has.map(({ type }) => type)]);
  return [...types].flatMap((type) => {
    const count = has.filter((drive) => drive.type === type).length;
    const wanted = drives[type] ?? 0;
    return count === wanted ? [] : [`Array ${internalName} has ${count} drives of type ${type}, not ${wanted}.`];
  });
}

function stockProblems(drives: readonly Drive[], { nodes }: Config): string[] {
  const counts = Map.groupBy(drives, ({ node, type }) => `${node} ${type}`);
  return nodes.flatMap((node) =>
    Object.entries(node.drives).flatMap(([type, count]) => {
      const found = counts.get(`${node.name} ${type}`)?.length ?? 0;
      return found === count ? [] : [`Node ${node.name} has ${found} drives of type ${type}, not ${count}.`];
    }),
  );
}

async function fileProblems(drives: readonly Drive[], files: DriveFiles): Promise<string[]> {
  const problems: string[] = [];
  for (const drive of drives.filter(({ array }) => array !== null)) {
    const problem = drive.hasFile ? await files.problemOf(drive) : 'its file was never made';
    if (problem !== undefined) problems.push(`Drive ${drive.uuid} of node ${drive.node}: ${problem}.`);
  }
  return problems;
}

async function strayFiles(drives: readonly Drive[], files: DriveFiles, { nodes }: Config): Promise<string[]> {
  const placed = new Set(drives.filter(({ array }) => array !== null).map((drive) => files.pathOf(drive)));
  const known = new Set([...nodes.map(({ name }) => name), ...drives.map(({ node }) => node)]);
  return [
    ...(await files.list()).filter(({ path }) => !placed.has(path)).map(({ path }) => `${path} belongs to no array.`),
    ...(await files.nodes()).filter((node) => !known.has(node)).map((node) => `There is no node for folder ${node}.`),
  ];
}

async function folderProblems(arrays: readonly BookedArray[], folder: string): Promise<string[]> {
  const found = new Set(await readdir(folder));
  const names = new Set(arrays.map(({ internalName }) => internalName));
  return [
    ...[...names].filter((name) => !found.has(name)).map((name) => `The folder of array ${name} is missing.`),
    ...[...found].filter((name) => !names.has(name)).map((name) => `Folder ${name} belongs to no array.`),
  ];
}
