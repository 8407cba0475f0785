import type { Checksum } from '@granary/storage/object-store';

type Algorithm = Checksum['algorithm'];

/** Polynomials in reflected form: the lowest power is the highest bit. All three start from and end with all ones. */
const POLYNOMIALS: Partial<Record<Algorithm, { readonly bits: bigint; readonly polynomial: bigint }>> = {
  CRC32: { bits: 32n, polynomial: 0xedb88320n },
  CRC32C: { bits: 32n, polynomial: 0x82f63b78n },
  CRC64NVME: { bits: 64n, polynomial: 0x9a6c9329ac4bc9b5n },
};

/** Whether the checksum of a whole follows from those of its parts. */
export function combines(algorithm: Algorithm): boolean {
  return POLYNOMIALS[algorithm] !== undefined;
}

export interface PartChecksum {
  /** Base64. */
  readonly value: string;
  readonly size: number;
}

/** The checksum of all bytes of the parts in a row, in base64, from the checksums of the parts alone. */
export function fullChecksum(algorithm: Algorithm, parts: readonly PartChecksum[]): string {
  const crc = POLYNOMIALS[algorithm];
  if (crc === undefined) throw new TypeError(`${algorithm} of a whole does not follow from its parts`);
  const { bits, polynomial } = crc;
  // Parts are mostly of one size, so what a size shifts by is worked out once.
  const shifts = new Map<number, bigint>();
  let whole = 0n;
  for (const part of parts) {
    const own = BigInt(`0x${Buffer.from(part.value, 'base64').toString('hex')}`);
    let shift = shifts.get(part.size);
    if (shift === undefined) {
      shift = powerOfX(part.size, bits, polynomial);
      shifts.set(part.size, shift);
    }
    whole = multiply(whole, shift, bits, polynomial) ^ own;
  }
  const hex = whole.toString(16).padStart(Number(bits) / 4, '0');
  return Buffer.from(hex, 'hex').toString('base64');
}

/** The checksum of the parts' checksums, with their number behind it. */
export function compositeChecksum(values: readonly string[], digest: (bytes: Buffer) => string): string {
  return `${digest(Buffer.concat(values.map((value) => Buffer.from(value, 'base64'))))}-${values.length}`;
}

/** a · b modulo the polynomial. */
function multiply(a: bigint, b: bigint, bits: bigint, polynomial: bigint): bigint {
  let product = 0n;
  let factor = b;
  for (let bit = 1n << (bits - 1n); bit > 0n; bit >>= 1n) {
    if ((a & bit) !== 0n) product ^= factor;
    factor = (factor & 1n) === 0n ? factor >> 1n : (factor >> 1n) ^ polynomial;
  }
  return product;
}

/** x to the power of eight times `bytes`: what appending so many bytes multiplies a checksum by. */
function powerOfX(bytes: number, bits: bigint, polynomial: bigint): bigint {
  let result = 1n << (bits - 1n);
  let square = 1n << (bits - 9n);
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = multiply(result, square, bits, polynomial);
    square = multiply(square, square, bits, polynomial);
  }
  return result;
}
