import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { portalApi } from '@granary/contract/portal';
import { formProblems } from '../src/contract/form-problems.ts';
import { numberProblem, sizeProblem, typedNumber, typedSize } from '../src/parts/typed-number.ts';
import { lifecycleDocument, ruleProblem } from '../src/objects/s3/documents.ts';

/** Goal: what is typed for a number or a size means what it says, or is refused in words: it never becomes another number. */

test('a number is what its digits say, and nothing else', () => {
  assert.equal(typedNumber('12'), 12);
  assert.equal(typedNumber(' -1 '), -1);
  assert.equal(typedNumber('0.5'), 0.5);
  assert.equal(typedNumber(''), undefined);
  for (const text of ['1e9', '100M', '1,5', '-', '0x10', 'twelve', '1 2'])
    assert.ok(Number.isNaN(typedNumber(text)), text);
});

test('a number out of range is refused with the limit', () => {
  assert.equal(numberProblem(0, { min: 1 }), 'Must be at least 1.');
  assert.equal(numberProblem(36_501, { min: 1, max: 36_500 }), 'Must be at most 36,500.');
  assert.equal(numberProblem(1.5, {}), 'Must be a whole number, in digits.');
  assert.equal(numberProblem(Number.NaN, { isDecimal: true }), 'Must be a number, such as 12 or 0.5.');
  assert.equal(numberProblem(1.5, { isDecimal: true, min: 0 }), undefined);
  assert.equal(numberProblem(undefined, { min: 1 }), undefined);
});

test('a size has the unit that is typed, and is GiB without one', () => {
  assert.equal(typedSize('100M'), 100);
  assert.equal(typedSize('2 GiB'), 2048);
  assert.equal(typedSize('2'), 2048);
  assert.equal(typedSize('1.5t'), 1.5 * 1024 * 1024);
  assert.equal(typedSize('0'), 0);
  for (const text of ['1e3', '-1G', '100K', 'G', '1,5G']) assert.ok(sizeProblem(typedSize(text)), text);
  assert.equal(sizeProblem(typedSize('2000T')), 'Must be at most 1024 TiB.');
});

test('a lifecycle rule of 0 days, or of no number, is not saved', () => {
  const rule = { id: 'old', isOn: true, prefix: '' };
  for (const expireDays of [0, -1, Number.NaN, 1.5])
    assert.match(ruleProblem({ ...rule, expireDays }) ?? '', /^Days are/);
  assert.equal(ruleProblem({ ...rule, expireDays: 1 }), undefined);
  assert.match(lifecycleDocument([{ ...rule, expireDays: 30 }]), /<Days>30<\/Days>/);
});

function problems(
  endpoint: Parameters<typeof formProblems>[0]['endpoint'],
  names: readonly string[],
  given: Readonly<Record<string, unknown>>,
  chosen: readonly string[] = [],
): Record<string, string> {
  const asked = { endpoint, names, labelOf: () => 'Server', isChosen: (name: string) => chosen.includes(name) };
  return Object.fromEntries(formProblems(asked, given));
}

test('a form says at its field what is wrong with a number, before anything is sent', () => {
  const { addDrives, setCache } = portalApi.groups.arrays;
  assert.deepEqual(problems(setCache, ['flash_cache_capacity'], { flash_cache_capacity: Number.NaN }), {
    flash_cache_capacity: 'Must be a whole number, in digits.',
  });
  assert.deepEqual(problems(addDrives, ['drives'], {}, ['drives']), {
    drives: 'Type how many: at least 1, at most 10,000.',
  });
  assert.deepEqual(problems(addDrives, ['drives'], { drives: { SSD: 99_999 } }, ['drives']), {
    drives: 'Each must be at most 10,000.',
  });
  assert.deepEqual(problems(addDrives, ['drives'], { drives: { SSD: 2 } }, ['drives']), {});
});

test('a form says which required field is empty', () => {
  const { attachVolumes } = arrayApi.groups.servers;
  assert.deepEqual(problems(attachVolumes, ['id'], {}, ['id']), { id: 'Choose a server.' });
  assert.deepEqual(problems(arrayApi.groups.volumes.create, ['name', 'capacity'], { capacity: 'much' }), {
    name: 'Must be filled in.',
    capacity: 'Must be a size, such as 500G, 2 TiB or 100M; a number alone is GiB.',
  });
});
