import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS, listedFile, NOW_MS, testContext } from '../testing/listed-file.ts';
import { compileCriteria } from './compile.ts';
import { CriteriaProblem } from './operands.ts';

const matches = (criteria: unknown, changes = {}) => compileCriteria(criteria, testContext)(listedFile(changes));

function refusal(criteria: unknown): string {
  try {
    compileCriteria(criteria, testContext);
  } catch (error) {
    assert.ok(error instanceof CriteriaProblem, String(error));
    return error.message;
  }
  return assert.fail(`was taken: ${JSON.stringify(criteria)}`);
}

test('files are asked for by where they are and what they are called', () => {
  assert.ok(matches({ path: { $glob: '/projects/**' } }));
  assert.ok(matches({ path: '/projects/alpha/Report.DOC' }));
  assert.ok(matches({ name: 'Report.DOC' }));
  assert.ok(!matches({ name: 'report.doc' }));
  assert.ok(matches({ extension: '.Doc' }));
  assert.ok(matches({ extension: { $in: ['xls', 'doc'] } }));
  assert.ok(matches({ extension: { $glob: 'DO?' } }));
  assert.ok(matches({ extension: { $exists: false } }, { path: '/a/.profile' }));
  assert.ok(matches({ extension: { $exists: false } }, { path: '/a.b/c' }));
  assert.ok(matches({ category: 'Documents' }));
  assert.ok(matches({ category: { $nin: ['Pictures'] } }));
  assert.ok(matches({ category: { $exists: false } }, { path: '/x.unheard' }));
});

test('by size, owner and group, in the words people use', () => {
  assert.ok(matches({ size: { $gt: 4_999, $lte: '5K' } }));
  assert.ok(!matches({ size: { $gte: '1.5M' } }));
  assert.ok(matches({ size: { $gte: '1.5 MB' } }, { sizeBytes: 1.5 * 2 ** 20 }));
  assert.ok(matches({ owner: 'anna', group: { $in: ['staff', 7] }, uid: 1000, gid: { $lt: '101' } }));
  assert.ok(!matches({ owner: { $ne: 'anna' } }));
  assert.ok(matches({ archived: false }));
});

test('by times and by ages', () => {
  const at = new Date(NOW_MS - 100 * DAY_MS).toISOString();
  assert.ok(matches({ modified_age: { $gte: '100d' }, accessed_age: { $lt: '101d' } }));
  assert.ok(matches({ created_age: { $gt: '3mo', $lt: '1y' }, changed_age: { $gt: '14w' } }));
  assert.ok(matches({ mtime: at, atime: { $date: at }, ctime: { $lt: '2026-01-01' } }));
  assert.ok(matches({ btime: { $lt: NOW_MS / 1000 } }));
  assert.ok(matches({ modified_at: { $gt: '2025-11-01 00:00' } }));
  assert.ok(matches({ modified_at: { $lte: '2025-11-21T14:00:00+02:00', $gte: '2025-11-21T13:00:00+01:00' } }));
});

test('conditions are joined as document databases join them', () => {
  const old = { modified_age: { $gt: '90d' } };
  const large = { size: { $gt: '1G' } };
  assert.ok(matches({ $or: [old, large] }));
  assert.ok(!matches({ $and: [old, large] }));
  assert.ok(matches({ $nor: [large] }));
  assert.ok(matches({ size: { $not: { $gt: '1G' } }, ...old }));
  assert.ok(matches({ $match: old }));
});

test('whatever is not offered is refused by its name', () => {
  for (const [criteria, words] of [
    [{ $where: 'sleep(1000)' }, /"\$where".*\$and, \$or, \$nor/],
    [{ $not: { size: 1 } }, /"\$not".*use \$nor/],
    [{ $expr: {} }, /"\$expr"/],
    [{ name: { $regex: '(a+)+$' } }, /for name, "\$regex".*use \$glob/],
    [{ size: { $glob: '*' } }, /for size, "\$glob"/],
    [{ name: { $gt: 'a' } }, /for name, "\$gt"/],
    [{ size: { $type: 'int' } }, /"\$type"/],
    [{ colour: 'red' }, /"colour".*path, name, extension/],
    [{ constructor: 1 }, /"constructor"/],
    [{ __proto__: null, toString: 1 }, /"toString"/],
    [{ size: 'large' }, /size: bytes/],
    [{ size: 1.5 }, /size: bytes/],
    [{ size: -1 }, /size: bytes/],
    [{ size: { big: 1 } }, /"big"/],
    [{ size: {} }, /no condition for size/],
    [{ size: null }, /null for size/],
    [{ size: [1] }, /list for size; use \$in/],
    [{ size: { $in: [] } }, /1 to 1000 values for \$in of size/],
    [{ size: { $in: 5 } }, /values for \$in of size/],
    [{ modified_age: 90 }, /modified_age: a text such as "90d"/],
    [{ modified_age: { $gt: '3m' } }, /modified_age/],
    [{ mtime: 'yesterday' }, /mtime: a text/],
    [{ mtime: '2026-13-01' }, /mtime/],
    [{ mtime: NOW_MS }, /seconds since 1970/],
    [{ uid: 'anna' }, /uid/],
    [{ owner: 'nobody at all' }, /NAS user.*"nobody at all"/],
    [{ category: 'Shopping lists' }, /category.*"Shopping lists"/],
    [{ archived: 'perhaps' }, /true or false for archived/],
    [{ name: { $exists: 'x' } }, /\$exists of name/],
    [{ name: { $glob: '[' } }, /pattern for name/],
    [{ name: { $not: 'x' } }, /\$not of name/],
    [{ $and: [] }, /list of conditions for \$and/],
    [{ $or: { size: 1 } }, /list of conditions for \$or/],
    [{}, /must hold a condition/],
    [[], /must be a JSON object/],
    ['text', /must be a JSON object/],
  ] as const) {
    assert.match(refusal(criteria), words, JSON.stringify(criteria));
  }
});

test('depth, number of conditions and length are bounded', () => {
  let deep: object = { size: 1 };
  for (let n = 0; n < 9; n += 1) deep = { $and: [deep] };
  assert.match(refusal(deep), /nested deeper than 8/);
  let negated: object = { $gt: 1 };
  for (let n = 0; n < 9; n += 1) negated = { $not: negated };
  assert.match(refusal({ size: negated }), /nested deeper than 8/);
  assert.match(refusal({ $or: Array.from({ length: 201 }, () => ({ size: 1 })) }), /at most 200 conditions/);
  assert.match(refusal({ size: { $in: Array.from({ length: 1001 }, (_, n) => n) } }), /1 to 1000 values/);
  assert.match(refusal({ name: { $in: Array.from({ length: 999 }, () => 'x'.repeat(99)) } }), /at most 64 KB/);
});
