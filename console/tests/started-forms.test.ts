import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { changesOf, shownOf } from '../src/contract/started-values.ts';
import { formProblems } from '../src/contract/form-problems.ts';

/** Goal: a form that starts with what is set sends what a person changed, and says no less and no more than that. */

const start = { read_iops_capping: 500, dedupe: true, smbhiddenfiles: '/*.tmp/' };

test('what was changed is sent; what was changed back, or never touched, is not', () => {
  assert.deepEqual(changesOf({ read_iops_capping: 0, dedupe: false }, start), { read_iops_capping: 0, dedupe: false });
  assert.deepEqual(changesOf({ read_iops_capping: 500, dedupe: true }, start), {});
  assert.deepEqual(changesOf({ smbhiddenfiles: '' }, start), { smbhiddenfiles: '' });
});

test('a form that goes on after signing in again sends nothing of what others set meanwhile', () => {
  const typed = { dedupe: false };
  const now = { ...start, read_iops_capping: 900 };
  assert.deepEqual(shownOf(typed, now), { ...now, dedupe: false });
  assert.deepEqual(changesOf(typed, now), { dedupe: false });
});

test('a field that is emptied is a problem where empty is not sent, and so would change nothing', () => {
  const { update } = arrayApi.groups.volumes;
  const names = Object.keys(start);
  const of = (edits: Readonly<Record<string, unknown>>, from?: Readonly<Record<string, unknown>>) => {
    const asked = { endpoint: update, names, labelOf: (name: string) => name, isChosen: () => false };
    return [...formProblems({ ...asked, ...(from && { start: from }) }, shownOf(edits, from))];
  };
  assert.deepEqual(of({ read_iops_capping: undefined }, start), [['read_iops_capping', 'Must be filled in.']]);
  assert.deepEqual(of({ smbhiddenfiles: '' }, start), [], 'an empty text removes it');
  assert.deepEqual(of({ read_iops_capping: undefined }), [], 'nothing was set');
});
