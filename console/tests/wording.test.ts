import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@granary/client/errors';
import { doneWords } from '../src/contract/done-words.ts';
import { errorInLabels, problemsAt } from '../src/contract/form-errors.ts';
import { inLabels } from '../src/parts/wording.ts';
import { windowProblem } from '../src/portal/billing-window.ts';

/** Goal: what a service says of parameters is said with the names that the form has for them. */

const LABELS: Readonly<Record<string, string>> = {
  force: 'Force',
  iscsi: 'Address or network',
  iqn: 'iSCSI initiator name',
  own_prefix: 'Names begin with the account’s id',
};
const words = { labelOf: (name: string) => LABELS[name] };

test('a choice of the API is named as the form has it', () => {
  assert.equal(inLabels('Detach it first, or use force=YES.', words), 'Detach it first, or use “Force”.');
  assert.equal(
    inLabels('grant it with own_prefix=NO, or leave', words),
    'grant it with “Names begin with the account’s id” set to No, or leave',
  );
});

test('a way out that the form does not have is not named', () => {
  assert.equal(inLabels('Detach it first, or use force=YES.', { labelOf: () => undefined }), 'Detach it first.');
});

test('parameters have the names of their fields; names of people and words stay', () => {
  assert.equal(
    inLabels('Server web_1 has the same iqn already.', words),
    'Server web_1 has the same “iSCSI initiator name” already.',
  );
  assert.equal(inLabels('iqn.2026-01.org:web over iscsi.example', words), 'iqn.2026-01.org:web over iscsi.example');
});

test('an error of two fields names both as the form does', () => {
  const error = new ApiError(400, 'own_prefix is required; iscsi must be an IP address.', [
    { field: 'own_prefix', message: 'is required' },
    { field: 'iscsi', message: 'must be an IP address' },
  ]);
  const worded = errorInLabels(error, words) as ApiError;
  assert.equal(
    worded.message,
    '“Names begin with the account’s id” is required; “Address or network” must be an IP address.',
  );
  assert.deepEqual(
    worded.problems.map(({ field }) => field),
    ['Names begin with the account’s id', 'Address or network'],
  );
});

test('a bill of days that are in the wrong order, or too many, is refused at its field', () => {
  assert.equal(windowProblem('2026-02-01', '2026-01-31'), 'The last day must not be before the first.');
  assert.equal(windowProblem('2026-02-01', '2026-02-01'), undefined);
  assert.equal(windowProblem('2021-01-01', '2025-12-31'), undefined);
  assert.equal(windowProblem('2021-01-01', '2026-01-01'), 'Choose at most 5 years.');
});

test('a problem at a field says what it is about', () => {
  const error = new ApiError(400, 'drives are 25 in all; engine small takes at most 24.', [
    { field: 'drives', message: 'are 25 in all; engine small takes at most 24' },
    { field: 'name', message: 'is required' },
    { field: 'password', message: 'must have at least 8 characters' },
  ]);
  assert.deepEqual(
    [...problemsAt(error, ['drives', 'name'], words).values()],
    ['Drives are 25 in all; engine small takes at most 24', 'is required', 'Password must have at least 8 characters'],
  );
});

test('a refusal that names a folded field stands at that field', () => {
  const form = { labelOf: (name: string) => (name === 'export_name' ? 'Export name' : undefined) };
  const error = new ApiError(400, 'export_name must be given: the name "docs/x" cannot serve as one');
  assert.deepEqual(
    [...problemsAt(error, ['name', 'export_name'], form)],
    [['export_name', 'Export name must be given: the name "docs/x" cannot serve as one']],
  );
  assert.equal(problemsAt(error, ['name'], form).size, 0);
});

test('what is done is said of what it was done to', () => {
  assert.equal(doneWords({ label: 'New user' }), 'The user was made.');
  assert.equal(doneWords({ label: 'Delete', destroys: 'tank' }), 'tank was deleted.');
  assert.equal(doneWords({ label: 'Pause' }), 'Pause: done.');
});
