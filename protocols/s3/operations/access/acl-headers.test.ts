import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertBrief } from '../../../../kernel/edge/testing/blocking.ts';
import { ALPHA } from '../../testing/rig.ts';
import type { S3Request } from '../../request.ts';
import { aclOfHeaders } from './acl-headers.ts';

const EVERYONE = 'http://acs.amazonaws.com/groups/global/AllUsers';

function aclOf(headers: Readonly<Record<string, string>>) {
  return aclOfHeaders({ header: (name: string) => headers[name] } as S3Request, ALPHA);
}

test('grants are read with and without quotes and spaces', () => {
  for (const text of [
    `uri="${EVERYONE}"`,
    `uri=${EVERYONE}`,
    ` URI = "${EVERYONE}" `,
    `id=${ALPHA}, uri="${EVERYONE}"`,
  ])
    assert.equal(aclOf({ 'x-amz-grant-read': text }), 'public-read', text);
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
