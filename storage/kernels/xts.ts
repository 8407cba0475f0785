import assert from 'node:assert/strict';
import { createCipheriv, createDecipheriv, timingSafeEqual, type Cipheriv, type Decipheriv } from 'node:crypto';
import { StorageError } from '../errors.ts';
import { BLOCK_BYTES } from '../units.ts';
import { isInArena } from './arena.ts';
import { kernels, memoryBuffer, SCRATCH_AT, TWEAKS_AT } from './instance.ts';

const KEY_BYTES = 64;
const TWEAK_BYTES = 16;
const WORDS_PER_TWEAK = TWEAK_BYTES / 4;
const PIECE_UNITS = 16;
const TWO_TO_32 = 2 ** 32;

// Views of 0, 1, 2, .. units, made once: making one takes as long as masking a unit.
const scratch = viewsOf(SCRATCH_AT, BLOCK_BYTES);
const tweaks = viewsOf(TWEAKS_AT, TWEAK_BYTES);
const tweakWords = new Uint32Array(memoryBuffer, TWEAKS_AT, (PIECE_UNITS * TWEAK_BYTES) / 4);

/**
 * AES-256-XTS (IEEE 1619) with data units of one block, numbered from 0. A cipher object for each unit would cost ten
 * times as much as the cipher itself, so one object of plain AES is used for each purpose, which keeps no state between
 * calls, and a kernel computes the masks of XTS.
 */
export class Xts {
  readonly #encryptor: Cipheriv;
  readonly #decryptor: Decipheriv;
  readonly #numberer: Cipheriv;

  constructor(key: Uint8Array) {
    assert.ok(key.length === KEY_BYTES, `AES-256-XTS takes a key of ${KEY_BYTES} bytes, not ${key.length}`);
    const dataKey = key.subarray(0, KEY_BYTES / 2);
    const tweakKey = key.subarray(KEY_BYTES / 2);
    if (timingSafeEqual(dataKey, tweakKey)) {
      throw new StorageError('invalid', 'The two halves of an XTS key must differ: draw a new random key');
    }
    this.#encryptor = createCipheriv('aes-256-ecb', dataKey, null).setAutoPadding(false);
    this.#decryptor = createDecipheriv('aes-256-ecb', dataKey, null).setAutoPadding(false);
    this.#numberer = createCipheriv('aes-256-ecb', tweakKey, null).setAutoPadding(false);
  }

  /** Encrypts whole data units in place; the first of them has the number `firstUnit`. */
  encrypt(data: Buffer, firstUnit: number): void {
    this.#transform(this.#encryptor, data, firstUnit);
  }

  decrypt(data: Buffer, firstUnit: number): void {
    this.#transform(this.#decryptor, data, firstUnit);
  }

  #transform(cipher: Cipheriv | Decipheriv, data: Buffer, firstUnit: number): void {
    const units = data.length / BLOCK_BYTES;
    if (!Number.isInteger(units)) assert.fail(`${data.length} bytes are not whole data units of ${BLOCK_BYTES}`);
    if (firstUnit < 0 || !Number.isSafeInteger(firstUnit + units))
      assert.fail(`${firstUnit} is no number of a data unit`);
    const inArena = isInArena(data);
    for (let done = 0; done < units; done += PIECE_UNITS) {
      const count = Math.min(PIECE_UNITS, units - done);
      this.#encryptNumbers(firstUnit + done, count);
      if (inArena) transformPiece(cipher, data.subarray(done * BLOCK_BYTES, (done + count) * BLOCK_BYTES));
      else transformThroughScratch(cipher, data, done, count);
    }
  }

  #encryptNumbers(firstUnit: number, count: number): void {
    for (let index = 0; index < count; index += 1) {
      const unit = firstUnit + index;
      const at = index * WORDS_PER_TWEAK;
      tweakWords[at] = unit % TWO_TO_32;
      tweakWords[at + 1] = unit / TWO_TO_32;
      tweakWords[at + 2] = 0;
      tweakWords[at + 3] = 0;
    }
    const numbers = tweaks[count] as Buffer;
    numbers.set(this.#numberer.update(numbers));
  }
}

/** `piece` is inside the memory of the kernels, and the encrypted numbers of its units are at `TWEAKS_AT`. */
function transformPiece(cipher: Cipheriv | Decipheriv, piece: Buffer): void {
  const count = piece.length / BLOCK_BYTES;
  kernels.addMasks(TWEAKS_AT, count, piece.byteOffset);
  piece.set(cipher.update(piece));
  kernels.addMasks(TWEAKS_AT, count, piece.byteOffset);
}

function transformThroughScratch(cipher: Cipheriv | Decipheriv, data: Buffer, done: number, count: number): void {
  const piece = scratch[count] as Buffer;
  data.copy(piece, 0, done * BLOCK_BYTES);
  transformPiece(cipher, piece);
  data.set(piece, done * BLOCK_BYTES);
}

function viewsOf(at: number, bytes: number): readonly Buffer[] {
  return Array.from({ length: PIECE_UNITS + 1 }, (_, units) => Buffer.from(memoryBuffer, at, units * bytes));
}
