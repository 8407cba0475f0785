/** Numbers of GF(2^8) by powers of the generator 2, with the polynomial 0x11d: for constants; data is for the kernels. */
const ORDER = 255;
const powers = new Uint8Array(ORDER);
const logarithms = new Uint8Array(ORDER + 1);

let value = 1;
for (let exponent = 0; exponent < ORDER; exponent += 1) {
  powers[exponent] = value;
  logarithms[value] = exponent;
  value = value & 0x80 ? (value << 1) ^ 0x11d : value << 1;
}

/** The generator to the power of `exponent`, which may be negative. */
export function power(exponent: number): number {
  return powers[((exponent % ORDER) + ORDER) % ORDER] as number;
}

/** The exponent that `power` turns into `element`, which is not zero. */
export function logarithm(element: number): number {
  return logarithms[element] as number;
}

export function multiply(left: number, right: number): number {
  return left === 0 || right === 0 ? 0 : power(logarithm(left) + logarithm(right));
}

/** Of a number that is not zero. */
export function inverse(element: number): number {
  return power(-logarithm(element));
}
