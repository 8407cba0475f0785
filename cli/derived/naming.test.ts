import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import { objectsApi } from '@granary/contract/objects';
import { portalApi } from '@granary/contract/portal';
import { namingOf } from './naming.ts';

test('a webhook is named by its number or its name, at every service', () => {
  for (const api of [portalApi, arrayApi, objectsApi]) {
    const operation = operations(api).find(({ id }) => id === 'webhooks.test');
    assert.ok(operation, api.name);
    const naming = namingOf(api, operation, 'id');
    assert.deepEqual([naming?.id, naming?.labels], ['id', ['name']], api.name);
    assert.match('1', naming?.identifier ?? /never/);
  }
});
