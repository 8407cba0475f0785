import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ListedFile } from '../../engine/shares.ts';
import { DAY_MS, listedFile, NOW_MS, testContext } from '../testing/listed-file.ts';
import { compileCriteria } from './compile.ts';

/**
 * Goal: the compiled matcher says what the criteria say. Method: criteria are made at random beside a plain model of
 * each condition, written as one would say it, and both are asked about random files.
 */
type Model = (file: ListedFile) => boolean;
interface Criterion {
  readonly criteria: Record<string, unknown>;
  readonly model: Model;
}

const paths = ['/a/x.log', '/a/b/y.LOG', '/c/z.jpg', '/c/.hidden', '/a.b/plain', '/w.doc'];
const file: fc.Arbitrary<ListedFile> = fc
  .record({
    path: fc.constantFrom(...paths),
    sizeBytes: fc.integer({ min: 0, max: 6 }).map((kilobytes) => kilobytes * 1024),
    uid: fc.constantFrom(1_000, 1_001),
    days: fc.integer({ min: 0, max: 6 }),
    isArchived: fc.boolean(),
  })
  .map(({ days, ...rest }) => listedFile({ ...rest, modifiedAt: NOW_MS - days * DAY_MS }));

const lastPart = (path: string) => path.split('/').at(-1) ?? '';
function extension(path: string): string | undefined {
  const [first = '', ...more] = lastPart(path).split('.');
  return more.length === 0 || first === '' ? undefined : more.at(-1)?.toLowerCase();
}

const numbers = {
  $eq: (left: number, right: number) => left === right,
  $ne: (left: number, right: number) => left !== right,
  $gt: (left: number, right: number) => left > right,
  $gte: (left: number, right: number) => left >= right,
  $lt: (left: number, right: number) => left < right,
  $lte: (left: number, right: number) => left <= right,
};
const comparison = fc.constantFrom(...(Object.keys(numbers) as (keyof typeof numbers)[]));
const small = fc.integer({ min: 0, max: 6 });

const leaf: fc.Arbitrary<Criterion> = fc.oneof(
  fc.tuple(comparison, small).map(([operator, value]) => ({
    criteria: { size: { [operator]: `${value}K` } },
    model: ({ sizeBytes }: ListedFile) => numbers[operator](sizeBytes, value * 1024),
  })),
  fc.tuple(comparison, small).map(([operator, days]) => ({
    criteria: { modified_age: { [operator]: `${days}d` } },
    model: ({ modifiedAt }: ListedFile) => numbers[operator]((NOW_MS - modifiedAt) / DAY_MS, days),
  })),
  fc.tuple(comparison, small).map(([operator, days]) => ({
    criteria: { mtime: { [operator]: new Date(NOW_MS - days * DAY_MS).toISOString() } },
    model: ({ modifiedAt }: ListedFile) => numbers[operator](modifiedAt, NOW_MS - days * DAY_MS),
  })),
  fc.subarray(['log', 'jpg', 'doc', 'exe'], { minLength: 1 }).map((wanted) => ({
    criteria: { extension: { $in: wanted } },
    model: ({ path }: ListedFile) => wanted.includes(extension(path) ?? ''),
  })),
  fc.boolean().map((isWanted) => ({
    criteria: { category: { $exists: isWanted } },
    model: ({ path }: ListedFile) => ['doc', 'jpg'].includes(extension(path) ?? '') === isWanted,
  })),
  fc.constantFrom('a', 'c').map((folder) => ({
    criteria: { path: { $glob: `/${folder}/**` } },
    model: ({ path }: ListedFile) => path.split('/')[1] === folder,
  })),
  fc.constant({
    criteria: { owner: { $ne: 'anna' } },
    model: ({ uid }: ListedFile) => uid !== 1_000,
  }),
  fc.boolean().map((archived) => ({
    criteria: { archived },
    model: ({ isArchived }: ListedFile) => isArchived === archived,
  })),
);

const { criterion } = fc.letrec<{ criterion: Criterion }>((tie) => {
  const several = fc.array(tie('criterion'), { minLength: 1, maxLength: 3 });
  const joined = (operator: string, model: (models: readonly Model[]) => Model) =>
    several.map((parts) => ({
      criteria: { [operator]: parts.map(({ criteria }) => criteria) },
      model: model(parts.map((part) => part.model)),
    }));
  return {
    criterion: fc.oneof(
      { depthSize: 'small', maxDepth: 5 },
      leaf,
      joined('$and', (models) => (one) => models.every((model) => model(one))),
      joined('$or', (models) => (one) => models.some((model) => model(one))),
      joined('$nor', (models) => (one) => !models.some((model) => model(one))),
      leaf.map(({ criteria, model }) => {
        const [[field, conditions] = ['', {}]] = Object.entries(criteria);
        const wrapped = typeof conditions === 'object' ? conditions : { $eq: conditions };
        return { criteria: { [field]: { $not: wrapped } }, model: (one: ListedFile) => !model(one) };
      }),
    ),
  };
});

test('random criteria match just the files their model does', () => {
  fc.assert(
    fc.property(criterion, fc.array(file, { minLength: 1, maxLength: 10 }), ({ criteria, model }, files) => {
      const matches = compileCriteria(criteria, testContext);
      for (const one of files) assert.equal(matches(one), model(one), JSON.stringify({ criteria, one }));
    }),
    { numRuns: 500 },
  );
});
