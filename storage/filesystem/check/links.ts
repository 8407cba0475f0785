import { ROOT_INODE } from '../store/layout.ts';
import type { Findings } from './findings.ts';

/** The attributes that an inode's links are compared with. */
export interface LinkedInode {
  readonly inode: number;
  readonly isDirectory: boolean;
  readonly type: number;
  readonly links: number;
  readonly parent: number;
}

/**
 * Verifies that each link is counted and each directory reachable. In columns of numbers, because there may be
 * millions; inodes come in the order of their numbers.
 */
export class Links {
  readonly #findings: Findings;
  readonly #inodes: number[] = [];
  readonly #types: number[] = [];
  readonly #links: number[] = [];
  readonly #parents: number[] = [];
  readonly #isDirectory: boolean[] = [];
  readonly #names: number[] = [];
  readonly #subdirectories: number[] = [];
  readonly #entryDirectories: number[] = [];
  readonly #entryTargets: number[] = [];
  readonly #entryTypes: number[] = [];
  readonly #orphans = new Set<number>();

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  addInode({ inode, isDirectory, type, links, parent }: LinkedInode): void {
    this.#inodes.push(inode);
    this.#types.push(type);
    this.#isDirectory.push(isDirectory);
    this.#links.push(links);
    this.#parents.push(parent);
    this.#names.push(0);
    this.#subdirectories.push(0);
  }

  addEntry(directory: number, target: number, type: number): void {
    this.#entryDirectories.push(directory);
    this.#entryTargets.push(target);
    this.#entryTypes.push(type);
  }

  addOrphan(inode: number): void {
    this.#orphans.add(inode);
  }

  check(): void {
    for (let index = 0; index < this.#entryTargets.length; index += 1) this.#countEntry(index);
    for (let row = 0; row < this.#inodes.length; row += 1) this.#checkRow(row);
    this.#checkReachable();
    for (const orphan of this.#orphans) {
      if (this.#rowOf(orphan) < 0) this.#findings.add(`orphan ${orphan} does not exist`);
    }
  }

  #countEntry(index: number): void {
    const directory = this.#entryDirectories[index] as number;
    const target = this.#entryTargets[index] as number;
    const row = this.#rowOf(target);
    if (row < 0) {
      this.#findings.add(`directory ${directory} names inode ${target}, which does not exist`);
      return;
    }
    this.#names[row] = (this.#names[row] as number) + 1;
    if (this.#types[row] !== this.#entryTypes[index]) {
      this.#findings.add(`directory ${directory} has the wrong type for inode ${target}`);
    }
    if (this.#isDirectory[row] !== true) return;
    if (this.#parents[row] !== directory) {
      this.#findings.add(`directory ${target} is in ${directory}, but has ${this.#parents[row]} as its parent`);
    }
    const above = this.#rowOf(directory);
    if (above >= 0) this.#subdirectories[above] = (this.#subdirectories[above] as number) + 1;
  }

  #checkRow(row: number): void {
    const inode = this.#inodes[row] as number;
    const isOrphan = this.#orphans.has(inode);
    const names = this.#names[row] as number;
    const isDirectory = this.#isDirectory[row] === true;
    const expectedNames = inode === ROOT_INODE || isOrphan ? 0 : 1;
    if (isDirectory && names !== expectedNames) this.#findings.add(`directory ${inode} has ${names} names`);
    const links = isDirectory ? 2 + (this.#subdirectories[row] as number) : names;
    const expected = isOrphan ? 0 : links;
    if (this.#links[row] !== expected || (isOrphan && names > 0)) {
      this.#findings.add(`inode ${inode} counts ${this.#links[row]} links; there are ${expected}`);
    }
    if (!isDirectory && names === 0 && !isOrphan) this.#findings.add(`inode ${inode} has no name and is no orphan`);
  }

  /** Every directory leads up to the root; verified ones are cached. */
  #checkReachable(): void {
    const reaches = new Uint8Array(this.#inodes.length);
    for (let row = 0; row < this.#inodes.length; row += 1) {
      if (this.#isDirectory[row] !== true || this.#orphans.has(this.#inodes[row] as number)) continue;
      const way: number[] = [];
      let at = row;
      while (at >= 0 && reaches[at] === 0 && this.#inodes[at] !== ROOT_INODE && way.length <= this.#inodes.length) {
        way.push(at);
        at = this.#rowOf(this.#parents[at] as number);
      }
      if (at < 0 || way.length > this.#inodes.length) {
        this.#findings.add(`directory ${this.#inodes[row]} cannot be reached from the root`);
        continue;
      }
      for (const each of way) reaches[each] = 1;
    }
  }

  #rowOf(inode: number): number {
    let low = 0;
    let high = this.#inodes.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = this.#inodes[middle] as number;
      if (found === inode) return middle;
      if (found < inode) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }
}
