import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoint, success } from '@granary/contract';
import { choice, integer, optional, page, text, withDefault } from '../../contract/params.ts';
import { GranaryError } from '../errors.ts';
import { everyKind } from './testing/server.ts';
import { readerOf } from './validate.ts';

type Params = Parameters<typeof endpoint>[2]['params'];

function reading(params: NonNullable<Params>) {
  const read = readerOf(endpoint('POST', '/x', { summary: '', access: { roles: [] }, params, reply: success({}) }));
  return (raw: Record<string, unknown>): unknown => {
    try {
      return read(raw);
    } catch (error) {
      if (!(error instanceof GranaryError)) throw error;
      return error.message;
    }
  };
}

const { level: _, ...kinds } = everyKind;
const read = reading(kinds);

/** Each raw value, and what it is read as; a text is the complaint. */
function check(name: string, cases: [raw: unknown, expected: unknown][]): void {
  for (const [raw, expected] of cases) {
    const outcome = read({ [name]: raw });
    assert.deepEqual(
      outcome,
      typeof expected === 'object' ? expected : `${name} ${expected as string}.`,
      JSON.stringify(raw),
    );
  }
}

test('a text is taken from whatever carries it, within its length', () => {
  check('name', [
    ['Ada', { name: 'Ada' }],
    [' Ada ', { name: ' Ada ' }],
    [7, { name: '7' }],
    [true, { name: 'true' }],
    ['ééééé😀😀😀😀😀', { name: 'ééééé😀😀😀😀😀' }],
    ['ééééé😀😀😀😀😀!', 'must have at most 10 characters'],
    ['x'.repeat(1000), 'must have at most 10 characters'],
    [{ toString: 'x' }, 'must be text'],
    [['a'], 'must be text'],
  ]);
});

test('a whole number is only that', () => {
  const no = 'must be a whole number';
  check('count', [
    ['5', { count: 5 }],
    [' 007 ', { count: 7 }],
    ['+5', { count: 5 }],
    [5, { count: 5 }],
    [5.5, 'must be a whole number'],
    ['5.0', no],
    ['5x', no],
    ['0x5', no],
    ['1e1', no],
    ['five', no],
    ['9'.repeat(70), no],
    [true, no],
    [[5], no],
    [{}, no],
    ['101', 'must be at most 100'],
    ['-1', 'must be at least 0'],
  ]);
});

test('a number may have a fraction', () => {
  check('share', [
    ['0.25', { share: 0.25 }],
    ['-3', { share: -3 }],
    [1.5, { share: 1.5 }],
    ['.5', 'must be a number'],
    ['1,5', 'must be a number'],
    ['NaN', 'must be a number'],
    ['Infinity', 'must be a number'],
    ['10.5', 'must be at most 10'],
  ]);
});

test('a boolean is true/false, 1/0, YES/NO or on/off, in any case', () => {
  const no = 'must be true or false (also YES/NO, 1/0, on/off)';
  const [yes, not] = [{ force: true }, { force: false }];
  check('force', [
    ...[true, 'true', 'TRUE', 1, '1', 'YES', 'yes', 'On', ' on '].map((raw): [unknown, object] => [raw, yes]),
    ...[false, 'false', 'False', 0, '0', 'NO', 'no', 'OFF'].map((raw): [unknown, object] => [raw, not]),
    ...[2, 'y', 'ja', 'true    and more', ['true'], {}].map((raw): [unknown, string] => [raw, no]),
  ]);
});

test('a choice is one of its values, in any case', () => {
  check('mode', [
    ['fast', { mode: 'fast' }],
    ['FAST', { mode: 'fast' }],
    ['Safe', { mode: 'safe' }],
    ['faster', 'must be one of fast, safe'],
    ['constructor', 'must be one of fast, safe'],
  ]);
});

test('a list has items of its kind, and not too many', () => {
  check('numbers', [
    ['1,2', { numbers: [1, 2] }],
    [['1', 2], { numbers: [1, 2] }],
    ['[1,2]', { numbers: [1, 2] }],
    [3, { numbers: [3] }],
    [{ 0: '1', 1: '2' }, { numbers: [1, 2] }],
    ['1,x', 'item 2 must be a whole number'],
    ['1,,2', 'item 2 must be a whole number'],
    ['[1', 'must be a list'],
    [{ a: 1 }, 'must be a list'],
    [true, 'must be a list'],
    ['1,2,3,4,5,6', 'must have at most 5 items'],
    [[], 'must have at least 1 items'],
    [['-1'], 'at 0 must be at least 0'],
  ]);
});

test('a capacity is whole megabytes, rounded up, and gigabytes where it does not say', () => {
  const no = 'must be a capacity such as 10G, 2T or 512M';
  check('size', [
    ['10G', { size: 10 * 1024 }],
    ['10', { size: 10 * 1024 }],
    [10, { size: 10 * 1024 }],
    ['2T', { size: 2 * 1024 * 1024 }],
    ['512M', { size: 512 }],
    ['1 gb', { size: 1024 }],
    ['2GiB', { size: 2048 }],
    ['10B', no],
    ['1.5G', { size: 1536 }],
    [0.853515625, { size: 874 }],
    ['0.0001G', { size: 1 }],
    ['1.', no],
    ['.5G', no],
    ['1e3', no],
    ['1,5G', no],
    ['-1G', no],
    ['10K', no],
    ['10G                              and more', no],
    [{ toString: 1 }, no],
    [['10G'], no],
    ['0', 'must be at least 1 MB'],
    ['999999999999T', 'must be at most 1073741824 MB'],
  ]);
});

test('a structure keeps to its schema; text in it becomes what the schema says, and nothing else does', () => {
  const quota = { source_id: 1, limit: 2 };
  const complaint = (where: string, what: string) => `at 0/${where} ${what}`;
  check('quotas', [
    [[quota], { quotas: [quota] }],
    [{ 0: { source_id: '1', limit: '2.5', hard: 'off' } }, { quotas: [{ source_id: 1, limit: 2.5, hard: false }] }],
    [[{ ...quota, label: null }], { quotas: [{ ...quota, label: null }] }],
    [[{ ...quota, label: 7 }], { quotas: [{ ...quota, label: '7' }] }],
    [[{ source_id: '', limit: 2 }], complaint('source_id', 'must be a whole number')],
    [[{ source_id: null, limit: 2 }], complaint('source_id', 'must be a whole number')],
    [[{ source_id: 1.9, limit: 2 }], complaint('source_id', 'must be a whole number')],
    [[{ source_id: true, limit: 2 }], complaint('source_id', 'must be a whole number')],
    [[{ ...quota, hard: 'maybe' }], complaint('hard', 'must be true or false')],
    [[{ limit: 2 }], 'at 0 must have required properties source_id'],
    [[{ ...quota, colour: 'red' }], complaint('colour', 'is not a known field')],
    ['{"a":', 'must be JSON'],
    ['7', 'must be JSON'],
    [7, 'must be JSON'],
  ]);
  check('drives', [
    [{ ssd: '2' }, { drives: { ssd: 2 } }],
    ['{"ssd":2}', { drives: { ssd: 2 } }],
    [{ ssd: 'many' }, 'at ssd must be a whole number'],
  ]);
});

test('a parameter that is missing is named, and so is every other that is bad', () => {
  const strict = reading({ name: text('Needed'), count: integer('Needed'), mode: choice(['a', 'b'], 'Needed') });
  assert.equal(strict({}), 'name is required; count is required; mode is required.');
  assert.equal(
    strict({ name: '', count: 'x', mode: 'c' }),
    'name is required; count must be a whole number; mode must be one of a, b.',
  );
});

test('an empty value is none, save for a text that may be empty', () => {
  for (const name of ['name', 'count', 'share', 'force', 'mode', 'names', 'size', 'quotas', 'upload']) {
    assert.deepEqual(read({ [name]: '' }), {}, name);
    assert.deepEqual(read({ [name]: null }), {}, name);
  }
  assert.deepEqual(read({ comment: '' }), { comment: '' });
  assert.deepEqual(read({ comment: null }), {});
});

test('a default stands in for what is absent or empty, not for what is bad', () => {
  const lenient = reading({ level: withDefault(integer('With a default'), 3), zero: optional(integer('Without')) });
  assert.deepEqual(lenient({}), { level: 3 });
  assert.deepEqual(lenient({ level: '' }), { level: 3 });
  assert.deepEqual(lenient({ level: '0', zero: 0 }), { level: 0, zero: 0 });
  assert.equal(lenient({ level: 'x' }), 'level must be a whole number.');
});

test('start and limit are whole numbers, 0 when absent', () => {
  const paged = reading(page);
  assert.deepEqual(paged({}), { start: 0, limit: 0 });
  assert.deepEqual(paged({ start: '20', limit: '10' }), { start: 20, limit: 10 });
  assert.equal(paged({ start: '-1', limit: 'all' }), 'start must be at least 0; limit must be a whole number.');
});

test('an alias means the parameter, whose own name counts more', () => {
  assert.deepEqual(read({ title: 'Ada' }), { name: 'Ada' });
  assert.deepEqual(read({ title: 'Ada', name: 'Bob' }), { name: 'Bob' });
});

test('a secret is not part of the error about it', () => {
  const strict = reading({ password: { ...text('A secret', { min: 8 }), secret: true } });
  assert.doesNotMatch(String(strict({ password: 'hunter2' })), /hunter2/);
});
