import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCatalogue, operations, refusals, type Api } from '@granary/contract';
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

test('a parameter in a message becomes the option of the command', () => {
  assert.equal(inCommands(arrayApi, 'Detach it first, or use force=YES.'), 'Detach it first, or use --force.');
  assert.equal(inCommands(objectsApi, 'grant it with own_prefix=NO'), 'grant it with --no-own-prefix');
  assert.equal(inCommands(portalApi, 'check admin_user and admin_key.'), 'check --admin-user and --admin-key.');
  // What is not a parameter is somebody's name.
  assert.equal(inCommands(portalApi, 'Array my_array is not there'), 'Array my_array is not there');
});

test('no message of the contract shows a call, an operation or the spelling of a parameter at the command line', () => {
  const apis: readonly Api[] = [portalApi, arrayApi, objectsApi];
  const ids = new Set(apis.flatMap((api) => operations(api).map(({ id }) => id)));
  const catalogue: Readonly<Record<string, { readonly message: string }>> = { ...errorCatalogue, ...refusals };
  for (const [name, { message }] of Object.entries(catalogue)) {
    if (name === 'unknown_path') continue;
    const isPlain = (text: string) =>
      !/\b(GET|POST|PUT|DELETE) \/|\b\w+=(YES|NO)\b|(?<![{\w-])[a-z]+_[a-z_]+(?![\w}])/.test(text) &&
      ![...ids].some((id) => text.includes(id));
    assert.ok(
      apis.some((api) => isPlain(inCommands(api, message))),
      `${name}: ${message}`,
    );
  }
});

test('no description of a command shows the spelling of a parameter', () => {
  for (const api of [portalApi, arrayApi, objectsApi] as readonly Api[]) {
    const params = new Set(operations(api).flatMap(({ endpoint }) => Object.keys(endpoint.params)));
    for (const { id, endpoint } of operations(api)) {
      const texts = [endpoint.summary, ...Object.values(endpoint.params).map(({ description }) => description)];
      for (const text of texts) {
        const words = inCommands(api, text).match(/[a-z]+(_[a-z]+)+/g) ?? [];
        assert.deepEqual(
          words.filter((word) => params.has(word)),
          [],
          `${id}: ${text}`,
        );
      }
    }
  }
});
