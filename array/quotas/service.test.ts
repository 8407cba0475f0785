import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MB } from '../units.ts';
import { OTHER_SHARE, quotasAlone, SHARE } from './testing/quotas-alone.ts';
import type { QuotaChange } from './service.ts';

const WHOLE = { start: 0, limit: 0 };
const change = (source_id: number, limit: string, more: Partial<QuotaChange> = {}): QuotaChange => ({
  source_id,
  source_type: 'user',
  nas_type: 'uid',
  limit,
  ...more,
});

async function setUp(t: Parameters<typeof quotasAlone>[0]) {
  const alone = await quotasAlone(t);
  const { nas, projects } = alone.array;
  await nas.createGroup({ name: 'staff', nfsGid: 100, smb: false }, 'dana');
  await nas.createUser({ username: 'jo', nfsUid: 1000 }, 'dana');
  await nas.createUser({ username: 'win', password: 'correct horse' }, 'dana');
  const project = await projects.create(SHARE, 'apollo', 'dana');
  return { ...alone, project };
}

test('quotas that cannot be set are named by their place, and the others are set', async (t) => {
  const { array, project, shares } = await setUp(t);
  const { quotas } = array;
  const errors = await quotas.set(
    SHARE,
    [
      change(1000, '10', { nas_type: 'nas' }),
      change(1001, '10', { nas_type: 'NAS' }),
      change(1002, '20'),
      change(1003, '20', { nas_type: 'ad' }),
      change(1004, '20', { nas_type: 'ldap' }),
      change(2 ** 32, '20'),
      change(1005, '1073741825'),
      change(project.number, '5', { source_type: 'project', nas_type: '' }),
      change(99, '5', { source_type: 'project' }),
      change(100, '30', { source_type: 'group', nas_type: 'nas' }),
      change(1002, '25'),
    ],
    'dana',
  );
  assert.deepEqual(errors, [
    'quotas[1]: source_id is 1001; there is no NAS user of that number',
    'quotas[3]: nas_type is ad; this array is in no Active Directory; use uid or nas',
    'quotas[4]: nas_type must be uid or nas',
    'quotas[5]: source_id is 4294967296; it must be at most 4294967295',
    'quotas[6]: limit is 1073741825; it must be at most 1073741824 MB',
    'quotas[8]: source_id is 99; there is no quota project of that id',
  ]);
  const limits = async (scope: 'user' | 'group' | 'project') =>
    (await quotas.list(SHARE, scope, WHOLE)).quotas.map(({ id, name, limitBytes = 0 }) => [id, name, limitBytes / MB]);
  assert.deepEqual(await limits('user'), [
    [1000, 'jo', 10],
    [1002, undefined, 25],
  ]);
  assert.deepEqual(await limits('group'), [[100, 'staff', 30]]);
  assert.deepEqual(await limits('project'), [[project.number, 'apollo', 5]]);
  shares.use('user', 1002, MB);
  assert.deepEqual(await quotas.set(SHARE, [change(1002, '0')], 'dana'), []);
  assert.equal((await shares.quota(SHARE, 'user', 1002)).limitBytes, undefined);
});

test('a page of a list comes with the count of all of it, however the engine pages', async (t) => {
  const { array, shares } = await setUp(t);
  for (let id = 0; id < 2500; id += 1) shares.use('user', id, id * MB);
  const page = async (start: number, limit: number) => {
    const { quotas, count } = await array.quotas.list(SHARE, 'user', { start, limit });
    return [count, quotas.length, quotas[0]?.id, quotas.at(-1)?.id];
  };
  // The one of number 0 uses nothing.
  assert.deepEqual(await page(0, 0), [2499, 2499, 1, 2499]);
  assert.deepEqual(await page(998, 4), [2499, 4, 999, 1002]);
  assert.deepEqual(await page(2498, 10), [2499, 1, 2499, 2499]);
  assert.deepEqual(await page(5000, 10), [2499, 0, undefined, undefined]);
});

test('one quota is found by number, by NAS name or by project, and by nothing else', async (t) => {
  const { array, project } = await setUp(t);
  const { quotas } = array;
  await quotas.set(SHARE, [change(1000, '10'), change(project.number, '7', { source_type: 'project' })], 'dana');
  assert.equal(await quotas.get(SHARE, 'user', { id: 1000 }), 10 * MB);
  assert.equal(await quotas.get(SHARE, 'user', { nas: 'jo' }), 10 * MB);
  assert.equal(await quotas.get(SHARE, 'user', { id: 7 }), undefined);
  assert.equal(await quotas.get(SHARE, 'group', { nas: 'staff' }), undefined);
  assert.equal(await quotas.get(SHARE, 'project', { id: project.number }), 7 * MB);
  const refusals: ['user' | 'group' | 'project', object, RegExp][] = [
    ['user', {}, /quota_id or quota_nas must be sent/],
    ['user', { id: 1, nas: 'jo' }, /only one of them/],
    ['user', { ad: 'jo' }, /quota_ad cannot be used: this array is in no Active Directory/],
    ['user', { nas: 'al' }, /User al was not found/],
    ['user', { nas: 'win' }, /User win was not found/],
    ['group', { nas: 'jo' }, /NAS group jo was not found/],
    ['project', { nas: 'apollo' }, /quota_nas is for users and groups/],
    ['project', { id: 99 }, /Quota project 99 was not found/],
  ];
  for (const [scope, of, reason] of refusals) await assert.rejects(quotas.get(SHARE, scope, of), reason);
});

test('quotas are turned on past those that are over only by force, and each kind by itself', async (t) => {
  const { array, shares } = await setUp(t);
  const { quotas } = array;
  await quotas.set(SHARE, [change(1000, '1'), change(5, '1'), change(6, '1'), change(7, '1')], 'dana');
  await quotas.setState(SHARE, { user: true, group: false }, false, 'dana');
  await quotas.setState(SHARE, { user: false }, false, 'dana');
  assert.throws(() => quotas.setState(SHARE, {}, true, 'dana'), /uquota or gquota or pquota must be sent/);
  for (const id of [5, 6, 7, 1000]) shares.use('user', id, MB + 1);
  const over = /Over their quota already.*: user 5, 6, 7 and 1 more\. Raise it, or use force=YES/;
  await assert.rejects(quotas.setState(SHARE, { user: true }, false, 'dana'), over);
  assert.deepEqual(shares.switches, { user: false, group: false, project: false });
  await quotas.setState(SHARE, { user: true }, true, 'dana');
  // On already: no second event.
  await quotas.setState(SHARE, { user: true, project: true }, false, 'dana');
  assert.deepEqual(shares.switches, { user: true, group: false, project: true });
});

const file = (format: 'csv' | 'text', text: string) => ({ format, bytes: Buffer.from(text) });

test('a file sets quotas by name or number, in CSV or as text', async (t) => {
  const { array, project, shares } = await setUp(t);
  const { quotas } = array;
  const limitOf = async (scope: 'user' | 'group' | 'project', id: number) =>
    ((await shares.quota(SHARE, scope, id)).limitBytes ?? 0) / MB;
  await quotas.import(SHARE, 'user', file('csv', '\ufeffname,limit\r\njo,10\r\n\r\n2000,"20"\r\n'), 'dana');
  assert.deepEqual([await limitOf('user', 1000), await limitOf('user', 2000)], [10, 20]);
  const saved = 'source_id,source_id_display,usage,soft,hard,source_type,nas_type\n1000,jo,3,0,11,user,nas\n';
  await quotas.import(SHARE, 'user', file('csv', saved), 'dana');
  assert.equal(await limitOf('user', 1000), 11);
  await quotas.import(SHARE, 'group', file('text', '# groups\nSTAFF\t30\n\n 7   40\n'), 'dana');
  assert.deepEqual([await limitOf('group', 100), await limitOf('group', 7)], [30, 40]);
  await array.projects.create(SHARE, 'two words', 'dana');
  await quotas.import(SHARE, 'project', file('text', `two words 5\n${project.number} 6`), 'dana');
  assert.deepEqual([await limitOf('project', project.number + 1), await limitOf('project', project.number)], [5, 6]);
  await quotas.import(SHARE, 'user', file('csv', 'id,limit\n1000,0\n'), 'dana');
  assert.equal(await limitOf('user', 1000), 0);
  assert.equal(array.titles().at(-1), `Volume ${SHARE} (${SHARE}): 1 quota of users was set from a file.`);
});

test('one bad row rejects the whole file, and the error names the row and why', async (t) => {
  const { array, shares } = await setUp(t);
  const { quotas } = array;
  const refusals: ['csv' | 'text', string, RegExp][] = [
    ['csv', 'id,limit\n5,10\nnobody,10\n', /: file row 3: there is no NAS user nobody\. No quota was set\.$/],
    ['csv', 'id,limit\n5,10\n6,ten\n', /row 3: limit is ten; it must be a whole number of MB/],
    ['csv', 'id,limit\n5,10\n6,-1\n', /row 3: limit is -1/],
    ['csv', 'id,limit\n5,10\n6,1073741825\n', /row 3: limit is 1073741825/],
    ['csv', 'id,limit\n5,10\n6\n', /row 3: has 1 cells; the header has 2/],
    ['csv', 'id,limit\n5,10\n5,20\n', /row 3: 5 has a quota in row 2 already/],
    ['csv', 'id,limit\n5,10\n1000,1\njo,20\n', /row 4: jo has a quota in row 3 already/],
    ['csv', 'id,limit\n5,10\n99999999999,20\n', /row 3: 99999999999 must be at most 4294967295/],
    ['csv', 'id,limit\n5,10\n"6,20\n', /row \d: /],
    ['csv', '5,10\n', /row 1: the header must be id,limit or name,limit/],
    ['csv', 'id,limit,colour\n5,10,red\n', /row 1: the header must be/],
    ['csv', 'id,limit\n', /holds no quotas/],
    ['csv', '', /holds no quotas/],
    ['text', '5 10\nnobody\n', /row 2: must be a name or number, a space, and a limit in MB/],
    ['text', `5 10\n${'x'.repeat(5000)} 1\n`, /row 2: is longer than/],
    ['text', '\n# nothing\n', /holds no quotas/],
  ];
  for (const [format, text, reason] of refusals)
    await assert.rejects(quotas.import(SHARE, 'user', file(format, text), 'dana'), reason, text);
  await assert.rejects(quotas.import(SHARE, 'user', { format: 'text', bytes: Buffer.of(0xff) }, 'dana'), /not UTF-8/);
  const many = Array.from({ length: 100_001 }, (_, id) => `${id} 1`).join('\n');
  await assert.rejects(quotas.import(SHARE, 'user', file('text', many), 'dana'), /more than 100000 rows/);
  assert.deepEqual(await shares.quotas(SHARE, 'user', 0, 10), []);
});

test('an import that was cut off is done at the next start', async (t) => {
  const alone = await setUp(t);
  const { shares } = alone;
  const set = shares.setQuotas.bind(shares);
  const reached = Promise.withResolvers<undefined>();
  shares.setQuotas = () => {
    reached.resolve(undefined);
    return new Promise(() => undefined);
  };
  void alone.array.quotas.import(SHARE, 'user', file('text', '5 10'), 'dana').catch(() => undefined);
  await reached.promise;
  shares.setQuotas = set;
  const { store, jobs } = await alone.kill();
  const [left] = store.read((db) => db.all<{ id: number }>("SELECT id FROM jobs WHERE kind = 'import-quotas'"));
  await jobs.wait(left!.id, -1);
  assert.equal((await shares.quota(OTHER_SHARE, 'user', 5)).limitBytes, 10 * MB);
});
