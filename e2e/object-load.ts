import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../testing/random.ts';
import type { S3Client } from '../protocols/s3/testing/client.ts';
import type { ObjectArray } from './object-array.ts';
import { bytesOf, someSlice, type Content } from './object-bytes.ts';

/** How often a request that the array could not take just now is made again: a client library does the same. */
const TRIES = 8;
const RETRY_MS = 250;
const PAUSE_MS = 5;
/** Beyond so many, each new object takes the place of an old one. */
const OBJECTS_MAX = 120;

/** Readers that look at every byte, and writers, on one bucket; what they meet that must not be is kept. */
export class ObjectLoad {
  readonly problems: string[] = [];
  reads = 0;
  writes = 0;
  /** Writes that were refused for the time being and then taken. */
  retries = 0;
  readonly #bucket: string;
  readonly #random: Random;
  readonly #objects = new Map<string, Content>();
  #running: Promise<void>[] = [];
  #isStopping = false;
  #counter = 0;

  constructor(bucket: string, random: Random) {
    this.#bucket = bucket;
    this.#random = random;
  }

  /** The bucket in a policy, and some objects in it. */
  async prepare(array: ObjectArray, policy: string, count: number): Promise<void> {
    const s3 = array.s3();
    const made = await s3.call('PUT', `/${this.#bucket}`, { headers: { 'x-storage-policy': policy } });
    if (made.status !== 200) throw new Error(made.text);
    for (let at = 0; at < count; at += 1) await this.#write(s3);
  }

  start(array: ObjectArray): void {
    this.#isStopping = false;
    const s3 = array.s3();
    this.#running = [
      this.#repeat(() => this.#read(s3)),
      this.#repeat(() => this.#read(s3)),
      this.#repeat(() => this.#write(s3)),
      this.#repeat(() => (this.#objects.size > OBJECTS_MAX ? this.#remove(s3) : this.#write(s3))),
    ];
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#running);
  }

  /** Every object, every byte. */
  async readAll(array: ObjectArray): Promise<void> {
    const s3 = array.s3();
    for (const key of this.#objects.keys()) await this.#read(s3, key);
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    while (!this.#isStopping) {
      try {
        await work();
      } catch (error) {
        this.problems.push(`a request broke: ${String(error)}`);
      }
      await sleep(PAUSE_MS);
    }
  }

  async #read(s3: S3Client, key = this.#random.pick([...this.#objects.keys()]) ?? ''): Promise<void> {
    const content = this.#objects.get(key);
    if (!content) return;
    const answer = await s3.call('GET', `/${this.#bucket}/${key}`);
    // A concurrent deletion may have been faster.
    if (!this.#objects.has(key)) return;
    this.reads += 1;
    if (answer.status !== 200) this.problems.push(`reading ${key}: ${answer.status} ${answer.text}`);
    else if (!answer.bytes.equals(bytesOf(content))) this.problems.push(`reading ${key}: wrong bytes`);
  }

  async #write(s3: S3Client): Promise<void> {
    const content = [someSlice(this.#random)];
    const key = `o${++this.#counter}`;
    for (let attempt = 1; ; attempt += 1) {
      const answer = await s3.call('PUT', `/${this.#bucket}/${key}`, { body: bytesOf(content) });
      if (answer.status === 200) break;
      if (answer.status !== 503 || attempt === TRIES) {
        this.problems.push(`writing ${key}: ${answer.status} ${answer.text}`);
        return;
      }
      this.retries += 1;
      await sleep(RETRY_MS);
    }
    this.writes += 1;
    this.#objects.set(key, content);
  }

  async #remove(s3: S3Client): Promise<void> {
    const key = this.#random.pick([...this.#objects.keys()]) ?? '';
    this.#objects.delete(key);
    const answer = await s3.call('DELETE', `/${this.#bucket}/${key}`);
    if (answer.status !== 204) this.problems.push(`deleting ${key}: ${answer.status} ${answer.text}`);
  }
}
