import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Tests sign in thousands of times, and scrypt is slow on purpose: a tenth of a second of processor each time. Here it
 * has the least cost there is. The product has no setting for it, so that it cannot be weakened; `passwords.isolated.test.ts`
 * runs without this and guards the real cost.
 */
const real = crypto.scrypt as (...parameters: unknown[]) => void;
const quick = (password: unknown, salt: unknown, length: unknown, options: object, done: unknown) =>
  real(password, salt, length, { ...options, N: 2 }, done);

Object.assign(crypto, { scrypt: quick });
syncBuiltinESMExports();
