import type { ParentLink } from '../files/parents.ts';
import type { Findings } from './findings.ts';

/**
 * Verifies that names and their back links match one to one. In columns of numbers, because there may be millions;
 * names come in the order of their directories and cookies.
 */
export class ParentsCheck {
  readonly #findings: Findings;
  readonly #directories: number[] = [];
  readonly #cookies: number[] = [];
  readonly #targets: number[] = [];
  readonly #linkInodes: number[] = [];
  readonly #linkParents: number[] = [];
  readonly #linkCookies: number[] = [];

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  addName(directory: number, cookie: number, target: number): void {
    this.#directories.push(directory);
    this.#cookies.push(cookie);
    this.#targets.push(target);
  }

  addLink(inode: number, { parent, cookie }: ParentLink): void {
    this.#linkInodes.push(inode);
    this.#linkParents.push(parent);
    this.#linkCookies.push(cookie);
  }

  check(): void {
    const isLinked = new Uint8Array(this.#targets.length);
    for (let link = 0; link < this.#linkInodes.length; link += 1) {
      const inode = this.#linkInodes[link] as number;
      const parent = this.#linkParents[link] as number;
      const row = this.#rowOf(parent, this.#linkCookies[link] as number);
      if (row < 0 || this.#targets[row] !== inode) {
        this.#findings.add(`inode ${inode} has a link to directory ${parent}, which does not name it there`);
      } else if (isLinked[row] === 1) {
        this.#findings.add(`inode ${inode} has two links to one name in directory ${parent}`);
      } else {
        isLinked[row] = 1;
      }
    }
    for (let row = isLinked.indexOf(0); row >= 0; row = isLinked.indexOf(0, row + 1)) {
      this.#findings.add(`inode ${this.#targets[row]} has no link to its name in directory ${this.#directories[row]}`);
    }
  }

  #rowOf(directory: number, cookie: number): number {
    let low = 0;
    let high = this.#targets.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const order = (this.#directories[middle] as number) - directory || (this.#cookies[middle] as number) - cookie;
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }
}
