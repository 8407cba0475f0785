import assert from 'node:assert/strict';
import type { Client3 } from '../../../../../protocols/nfs/testing/client3.ts';

type Files = Map<string, Buffer>;

/** What a file system owes after an operation: names and contents, or any bytes in a range that was being written. */
interface Step {
  readonly run: (client: Client3, directory: Buffer) => Promise<void>;
  readonly apply: (files: Files) => void;
  /** Where a write that was not answered may have left any part of it. */
  readonly torn?: { readonly name: string; readonly from: number; readonly until: number };
}

const NAMES = 12;
const OK = 0;

/**
 * Changes files of a directory one after the other and knows what must be there: everything that was answered, and the
 * operation that was not, done or not done.
 */
export class FileWorker {
  readonly #name: string;
  readonly #random: () => number;
  #files: Files = new Map();
  #pending: Step | undefined;
  steps = 0;

  constructor(name: string, random: () => number) {
    this.#name = name;
    this.#random = random;
  }

  /** Until the server is gone. */
  async run(client: Client3): Promise<void> {
    const directory = await this.#directory(client);
    for (;;) {
      const step = this.#choose();
      this.#pending = step;
      try {
        await step.run(client, directory);
      } catch (error) {
        if (/connection was closed/.test(String(error))) return;
        throw error;
      }
      step.apply(this.#files);
      this.#pending = undefined;
      this.steps += 1;
    }
  }

  async verify(client: Client3): Promise<void> {
    const found = await this.#read(client);
    const done = new Map(this.#files);
    this.#pending?.apply(done);
    const torn = this.#pending?.torn;
    const problems = [this.#files, done].map((expected) => differenceOf(found, expected, torn));
    assert.ok(problems.includes(undefined), `${this.#name}: ${problems.join('; ')}`);
    this.#files = found;
    this.#pending = undefined;
  }

  async #directory(client: Client3): Promise<Buffer> {
    const there = await client.lookup(client.root, this.#name);
    if (there.status === OK) return there.handle;
    const made = await client.mkdir(client.root, this.#name);
    assert.equal(made.status, OK);
    return made.handle;
  }

  async #read(client: Client3): Promise<Files> {
    const directory = await this.#directory(client);
    const files: Files = new Map();
    for (const name of await client.names(directory)) {
      const { handle, attributes } = await client.lookup(directory, name);
      const { status, data } = await client.read(handle, 0, 1_000_000);
      assert.deepEqual([status, data.length], [OK, attributes?.size]);
      files.set(name, data);
    }
    return files;
  }

  #choose(): Step {
    const name = `f${this.#below(NAMES)}`;
    const content = this.#files.get(name);
    if (content === undefined) return this.#create(name);
    const choice = this.#below(10);
    if (choice < 5) return this.#write(name, content);
    if (choice < 7) return this.#rename(name, `f${this.#below(NAMES)}`);
    if (choice < 8) return this.#truncate(name, content);
    return this.#unlink(name);
  }

  #create(name: string): Step {
    return {
      run: async (client, directory) => assert.equal((await client.create(directory, name, {})).status, OK),
      apply: (files) => void files.set(name, Buffer.alloc(0)),
    };
  }

  #write(name: string, content: Buffer): Step {
    const from = this.#below(content.length + 1);
    const data = Buffer.alloc(1 + this.#below(20_000), 1 + this.#below(255));
    const isStable = this.#below(2) === 0;
    return {
      run: async (client, directory) => {
        const { handle } = await client.lookup(directory, name);
        assert.equal((await client.write(handle, from, data, isStable ? 2 : 0)).status, OK);
        if (!isStable) assert.equal((await client.commit(handle)).status, OK);
      },
      apply: (files) => {
        const after = Buffer.alloc(Math.max(content.length, from + data.length));
        content.copy(after);
        data.copy(after, from);
        files.set(name, after);
      },
      torn: { name, from, until: from + data.length },
    };
  }

  #truncate(name: string, content: Buffer): Step {
    const size = this.#below(content.length + 1);
    return {
      run: async (client, directory) => {
        const { handle } = await client.lookup(directory, name);
        assert.equal((await client.setattr(handle, { size })).status, OK);
      },
      apply: (files) => void files.set(name, content.subarray(0, size)),
    };
  }

  #rename(from: string, to: string): Step {
    return {
      run: async (client, directory) => assert.equal((await client.rename(directory, from, directory, to)).status, OK),
      apply: (files) => {
        const content = files.get(from);
        if (content === undefined || from === to) return;
        files.delete(from);
        files.set(to, content);
      },
    };
  }

  #unlink(name: string): Step {
    return {
      run: async (client, directory) => assert.equal((await client.remove(directory, name)).status, OK),
      apply: (files) => void files.delete(name),
    };
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }
}

/** Undefined if there is none. */
function differenceOf(found: Files, expected: Files, torn: Step['torn']): string | undefined {
  const names = (files: Files) => [...files.keys()].sort().join();
  if (names(found) !== names(expected)) return `there are ${names(found)}, not ${names(expected)}`;
  for (const [name, content] of expected) {
    const there = found.get(name) as Buffer;
    const isTorn = torn?.name === name;
    // A write that was not answered may have written a part.
    if (!isTorn && !there.equals(content)) return `${name} is not what it should be`;
    if (isTorn && !sameOutside(there, content, torn.from, torn.until)) return `${name} is not what it should be`;
  }
  return undefined;
}

function sameOutside(one: Buffer, other: Buffer, from: number, until: number): boolean {
  if (!one.subarray(0, from).equals(other.subarray(0, from))) return false;
  return one.subarray(until).equals(other.subarray(until));
}
