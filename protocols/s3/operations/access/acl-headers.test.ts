import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertBrief } from '../../../../kernel/edge/testing/blocking.ts';
import { ALPHA } from '../../testing/rig.ts';
import { grantsOfHeaders } from './acl-headers.ts';

const EVERYONE = 'http://acs.amazonaws.com/groups/global/AllUsers';

function aclOf(headers: Readonly<Record<string, string>>) {
  return grantsOfHeaders((name) => headers[name]);
}

test('grants are read with and without quotes and spaces', () => {
  const everyone = { kind: 'uri', name: EVERYONE, permission: 'READ' };
  const alpha = { kind: 'id', name: ALPHA, permission: 'READ' };
  for (const [text, expected] of [
    [`uri="${EVERYONE}"`, [everyone]],
    [`uri=${EVERYONE}`, [everyone]],
    [` URI = "${EVERYONE}" `, [everyone]],
    [`id=${ALPHA}, uri="${EVERYONE}"`, [alpha, everyone]],
    ['emailaddress="a@b.example"', [{ kind: 'emailAddress', name: 'a@b.example', permission: 'READ' }]],
  ] as const)
    assert.deepEqual(aclOf({ 'x-amz-grant-read': text }), expected, text);
});

test('grants that cannot be read are refused in little time', async () => {
  const spaces = ' '.repeat(7_000);
  for (const text of [
    '',
    'id',
    'id=a"b',
    `id=${spaces}"x"${spaces}"`,
    `id=${spaces}x${spaces}"y`,
    `${spaces}id${spaces}x`,
  ])
    await assertBrief('a grant', () => {
      assert.throws(() => aclOf({ 'x-amz-grant-read': text }), { code: 'InvalidArgument' }, text.trim());
    });
});
