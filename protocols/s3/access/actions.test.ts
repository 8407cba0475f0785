import assert from 'node:assert/strict';
import { test } from 'node:test';
import { S3Error } from '../errors.ts';
import { operations } from '../operations/index.ts';
import { ACTIONS } from './actions.ts';
import { checkNewPolicy } from './policy-document.ts';

test('policies can name whatever an operation asks for', () => {
  const asked = operations.flatMap(({ operation: { action, versionAction } }) => [action, versionAction ?? action]);
  assert.deepEqual(
    [...new Set(asked)].filter((action) => !ACTIONS.includes(action)),
    [],
  );
});

function policy(...actions: string[]): string {
  const statement = { Effect: 'Deny', Principal: '*', Action: actions, Resource: 'arn:aws:s3:::photos/*' };
  return JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
}

test('actions are taken in any case and with wildcards, as long as there are any', () => {
  for (const action of ['*', 's3:*', 's3:getobject', 's3:Get*', 's3:*Object?agging', 's3:ReplicateTags']) {
    checkNewPolicy(policy(action), 'photos');
  }
});

test('an action that is none is refused by its name: a denial of it would deny nothing', () => {
  for (const action of ['s3:DeleteObjct', 's3:Gets*', 's3:?', 's3:constructor']) {
    assert.throws(
      () => checkNewPolicy(policy('s3:GetObject', action), 'photos'),
      (error) => error instanceof S3Error && error.code === 'MalformedPolicy' && error.message.includes(`'${action}'`),
    );
  }
});
