import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCatalogue, type Api } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import { objectsApi } from '@granary/contract/objects';
import { portalApi } from '@granary/contract/portal';
import { inCommands } from './wording.ts';

test('a call in a message becomes the command that makes it', () => {
  assert.equal(
    inCommands(arrayApi, 'No password is set; set one with POST /settings/encryption.'),
    'No password is set; set one with `granary array settings set-encryption-password`.',
  );
  assert.equal(inCommands(objectsApi, 'see GET /api/messages.'), 'see `granary objects messages list`.');
  assert.equal(inCommands(portalApi, 'see GET /api/providers'), 'see `granary providers list`');
  assert.equal(inCommands(portalApi, 'POST /api/arrays/7/hibernate first'), '`granary arrays hibernate` first');
  assert.equal(inCommands(portalApi, 'arrays.create is not served'), '`granary arrays create` is not served');
  assert.equal(inCommands(portalApi, 'of example.org, 1.5 GB'), 'of example.org, 1.5 GB');
});

test('no message of the catalogue shows a call to a person at the command line', () => {
  const apis: readonly Api[] = [portalApi, arrayApi, objectsApi];
  for (const [name, { message }] of Object.entries(errorCatalogue) as [string, { message: string }][]) {
    if (name === 'unknown_path') continue;
    const shown = apis.map((api) => inCommands(api, message));
    assert.ok(
      shown.some((text) => !/\b(GET|POST|PUT|DELETE) \//.test(text)),
      `${name}: ${message}`,
    );
  }
});

test('force=YES in a message becomes the switch of the command', () => {
  assert.equal(inCommands(arrayApi, 'Detach it first, or use force=YES.'), 'Detach it first, or use --force.');
});
