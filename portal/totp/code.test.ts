import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base32, codeOfStep, otpauthUri, stepAt, stepOfCode } from './code.ts';

/** The key of the test vectors of RFC 6238, appendix B. */
const SECRET = base32(Buffer.from('12345678901234567890'));

test('codes are those of RFC 6238, the last six digits of its eight', () => {
  const vectors = [
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ] as const;
  for (const [seconds, code] of vectors) assert.equal(codeOfStep(SECRET, stepAt(seconds * 1000)), code.slice(2));
});

test('a code of the step before or after is right, one of two steps away is not, and one that was used is not', () => {
  const now = 1_234_567_890_000;
  const step = stepAt(now);
  const found = (away: number, last = 0) => stepOfCode(SECRET, codeOfStep(SECRET, step + away), now, last);
  assert.deepEqual(
    [-2, -1, 0, 1, 2].map((away) => found(away)),
    [undefined, step - 1, step, step + 1, undefined],
  );
  assert.deepEqual([found(0, step), found(-1, step), found(1, step)], [undefined, undefined, step + 1]);
});

test('an app reads secret and user from the address', () => {
  assert.equal(
    otpauthUri('ABC234', { issuer: 'Granary', account: 'ann b:c' }),
    'otpauth://totp/Granary:ann%20b%3Ac?secret=ABC234&issuer=Granary&algorithm=SHA1&digits=6&period=30',
  );
});
