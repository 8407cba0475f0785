import type { XdrReader } from '../../xdr/reader.ts';
import type { XdrWriter } from '../../xdr/writer.ts';

const WORD_BITS = 32;
/** Of attributes that exist; further ones are read and ignored. */
const WORDS_MAX = 8;

/** A set of attribute numbers, in words of 32 bits. */
export class Bitmap {
  readonly #words: number[];

  constructor(words: readonly number[] = []) {
    this.#words = [...words];
  }

  static of(numbers: Iterable<number>): Bitmap {
    const bitmap = new Bitmap();
    for (const number of numbers) bitmap.add(number);
    return bitmap;
  }

  static read(args: XdrReader): Bitmap {
    return new Bitmap(args.array(WORDS_MAX, () => args.u32()));
  }

  add(number: number): void {
    const index = Math.floor(number / WORD_BITS);
    while (this.#words.length <= index) this.#words.push(0);
    this.#words[index] = ((this.#words[index] ?? 0) | (1 << (number % WORD_BITS))) >>> 0;
  }

  has(number: number): boolean {
    return ((this.#words[Math.floor(number / WORD_BITS)] ?? 0) & (1 << (number % WORD_BITS))) !== 0;
  }

  hasAny(numbers: readonly number[]): boolean {
    return numbers.some((number) => this.has(number));
  }

  /** In ascending order. */
  numbers(): number[] {
    const numbers: number[] = [];
    for (const [index, word] of this.#words.entries()) {
      for (let rest = word; rest !== 0; rest &= rest - 1) {
        numbers.push(index * WORD_BITS + (WORD_BITS - 1 - Math.clz32(rest & -rest)));
      }
    }
    return numbers;
  }

  and(other: Bitmap): Bitmap {
    return new Bitmap(this.#words.map((word, index) => (word & (other.#words[index] ?? 0)) >>> 0));
  }

  write(reply: XdrWriter): void {
    let length = this.#words.length;
    while (length > 0 && this.#words[length - 1] === 0) length -= 1;
    reply.u32(length);
    for (let index = 0; index < length; index += 1) reply.u32(this.#words[index] as number);
  }
}
