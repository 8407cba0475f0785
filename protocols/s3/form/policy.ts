import { S3Error } from '../errors.ts';

const CONDITIONS_MAX = 256;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
/** Fields that need no condition. */
const FREE = new Set(['x-amz-signature', 'policy', 'file', 'awsaccesskeyid', 'signature']);

export interface SizeRange {
  readonly least: number;
  readonly most: number;
}

type Test = { readonly name: string; readonly value: string; readonly prefix: boolean };

/**
 * Holds the fields of a form against its policy (base64 of JSON): every field must be allowed by a condition and every
 * condition must hold. Returns the sizes the file may have.
 */
export function checkFormPolicy(policy: string, fields: ReadonlyMap<string, string>, now: number): SizeRange | null {
  const { expiration, conditions } = readPolicy(policy);
  if (now > expiration) throw denied('Policy expired.');
  const tests: Test[] = [];
  let range: SizeRange | null = null;
  for (const condition of conditions) {
    if (Array.isArray(condition) && String(condition[0]).toLowerCase() === 'content-length-range') {
      range = narrowed(range, readRange(condition));
    } else {
      tests.push(...readTests(condition));
    }
  }
  for (const test of tests) if (!holds(test, fields)) throw denied(`Policy Condition failed: ${describe(test)}`);
  const named = new Set(tests.map(({ name }) => name));
  for (const name of fields.keys()) {
    if (FREE.has(name) || name.startsWith('x-ignore-') || named.has(name) || name === 'bucket') continue;
    throw denied(`Extra input fields: ${name.slice(0, 64)}`);
  }
  if (!named.has('bucket') || !named.has('key')) throw denied('The policy must name bucket and key.');
  return range;
}

function readPolicy(text: string): { readonly expiration: number; readonly conditions: readonly unknown[] } {
  let document: unknown;
  try {
    document = JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
  } catch {
    throw invalid('it is not JSON in base64.');
  }
  if (typeof document !== 'object' || document === null) throw invalid('it is not a JSON object.');
  const { expiration, conditions } = document as Record<string, unknown>;
  const until = typeof expiration === 'string' && TIME.test(expiration) ? Date.parse(expiration) : Number.NaN;
  if (Number.isNaN(until)) throw invalid('expiration must be a time like 2026-11-16T12:00:00.000Z.');
  if (!Array.isArray(conditions) || conditions.length > CONDITIONS_MAX) {
    throw invalid(`conditions must be a list of at most ${CONDITIONS_MAX}.`);
  }
  return { expiration: until, conditions };
}

function readTests(condition: unknown): Test[] {
  if (Array.isArray(condition)) {
    const [operator, name, value] = condition as unknown[];
    const kind = String(operator).toLowerCase();
    const known = kind === 'eq' || kind === 'starts-with';
    if (
      condition.length !== 3 ||
      !known ||
      typeof name !== 'string' ||
      !name.startsWith('$') ||
      typeof value !== 'string'
    ) {
      throw invalid(`the condition ${JSON.stringify(condition).slice(0, 128)} cannot be read.`);
    }
    return [{ name: name.slice(1).toLowerCase(), value, prefix: kind === 'starts-with' }];
  }
  if (typeof condition !== 'object' || condition === null) throw invalid('a condition must be a list or an object.');
  const entries = Object.entries(condition);
  if (entries.length !== 1) throw invalid('a condition that is an object must have exactly one property.');
  return entries.map(([name, value]) => {
    if (typeof value !== 'string') throw invalid(`the value of ${name.slice(0, 64)} must be a text.`);
    return { name: name.toLowerCase(), value, prefix: false };
  });
}

function readRange(condition: readonly unknown[]): SizeRange {
  const [, least, most] = condition.map((value) => (/^\d{1,15}$/.test(String(value)) ? Number(value) : Number.NaN));
  if (condition.length !== 3 || !Number.isSafeInteger(least) || !Number.isSafeInteger(most)) {
    throw invalid('content-length-range needs two numbers of bytes.');
  }
  return { least: least ?? 0, most: most ?? 0 };
}

/** Every condition holds, so several ranges leave what all of them allow. */
function narrowed(former: SizeRange | null, range: SizeRange): SizeRange {
  if (!former) return range;
  return { least: Math.max(former.least, range.least), most: Math.min(former.most, range.most) };
}

/** A list of content types begins with a prefix when each of them does. */
function holds({ name, value, prefix }: Test, fields: ReadonlyMap<string, string>): boolean {
  const given = fields.get(name) ?? '';
  if (!prefix) return given === value;
  const texts = name === 'content-type' ? given.split(',').map((each) => each.trim()) : [given];
  return texts.every((text) => text.startsWith(value));
}

function describe({ name, value, prefix }: Test): string {
  return JSON.stringify([prefix ? 'starts-with' : 'eq', `$${name}`, value]).slice(0, 256);
}

function denied(message: string): S3Error {
  return new S3Error('AccessDenied', `Invalid according to Policy: ${message}`);
}

function invalid(message: string): S3Error {
  return new S3Error('InvalidPolicyDocument', `The policy of the form is not valid: ${message}`);
}
