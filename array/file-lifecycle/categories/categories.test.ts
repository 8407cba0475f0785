import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lifecycleAlone } from '../testing/lifecycle-alone.ts';
import { fileCategoryRoutes } from './routes.ts';

const actor = { actor: { username: 'tester' } } as never;

test('an array comes with categories, and what was made of them stays after a restart', async (t) => {
  const it = await lifecycleAlone(t);
  const { categories } = it.array.lifecycle;
  const { count, categories: first } = categories.list(0, 0);
  assert.ok(count > 10);
  assert.equal(first[0]?.displayName, 'Documents');
  await categories.delete(first[0].name, 'tester');
  assert.equal((await it.restart()).lifecycle.categories.list(0, 0).count, count - 1);
});

test('one extension is a text, several are a list, and each is in one category', async (t) => {
  const it = await lifecycleAlone(t);
  const routes = fileCategoryRoutes(it.array.lifecycle.categories);
  const create = async (displayname: string, file_extensions: string[]) =>
    (await routes.create!({ displayname, file_extensions }, actor)) as { category_ext_name: string };
  const { category_ext_name: category } = await create('Drawings', ['.DWG', 'dxf', 'dwg']);
  const shown = async () => {
    const { categories } = (await routes.list!({ start: 0, limit: 0 }, actor)) as {
      categories: { category_ext_name: string }[];
    };
    return categories.find((each) => each.category_ext_name === category);
  };
  const record = { category_ext_name: category, category_name: 'Drawings' };
  assert.deepEqual(await shown(), { ...record, extensions_count: 2, extension: ['dwg', 'dxf'] });
  await assert.rejects(create('drawings', ['abc']), { entry: 'name_taken' });
  await assert.rejects(create('Others', ['abc', 'dxf']), /dxf is in category Drawings/);
  await assert.rejects(create('Others', ['a.b']), /file_extensions must hold extensions without dots/);
  await routes.update!({ category, file_extensions: ['dwg'] }, actor);
  assert.deepEqual(await shown(), { ...record, extensions_count: 1, extension: 'dwg' });
  await create('Others', ['dxf']);
  await routes.rename!({ category, displayname: 'DRAWINGS' }, actor);
  assert.equal(it.array.lifecycle.categories.lookups().category('drawings'), category);
  await routes.delete!({ category }, actor);
  assert.equal(await shown(), undefined);
  await assert.rejects(async () => routes.delete!({ category }, actor), { entry: 'category_not_found' });
});
