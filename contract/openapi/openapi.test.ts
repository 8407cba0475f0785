import { createConfig, lintFromString } from '@redocly/openapi-core';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayApi } from '../array/index.ts';
import { type Api, anyone, endpoint, operations } from '../endpoint.ts';
import { objectsApi } from '../objects/index.ts';
import { capacity, file, json, list, secret, text, withDefault } from '../params.ts';
import { listOf, mapOf, nullable, record, str } from '../records.ts';
import { fileReply, response, success } from '../reply.ts';
import { portalApi } from '../portal/index.ts';
import { type OpenApiDocument, openApiDocument } from './index.ts';

const lintRules = await createConfig({
  extends: ['recommended'],
  rules: {
    // The specification has a path that ends in a slash (the object accounts of an array); it is given to the letter.
    'no-path-trailing-slash': 'off',
  },
});

for (const api of [portalApi, arrayApi, objectsApi] satisfies Api[]) {
  test(`the document of the ${api.name} API has no errors and no warnings`, async () => {
    const source = JSON.stringify(openApiDocument(api, { version: '1.0.0' }));
    const problems = await lintFromString({ source, absoluteRef: `${api.name}.json`, config: lintRules });
    assert.deepEqual(
      problems.map(({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`),
      [],
    );
  });

  test(`the document of the ${api.name} API has every operation`, () => {
    const { paths } = openApiDocument(api, { version: '1.0.0' });
    const ids = Object.values(paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
    assert.deepEqual(
      ids.toSorted(),
      operations(api)
        .map(({ id }) => id)
        .toSorted(),
    );
  });
}

const Thing = record('Thing', { name: str(), note: nullable(str('Anything')), labels: mapOf(str()) });
const admin = { roles: ['admin'] };
const id = text('The thing', { example: 'thing-1' });

const things = {
  list: endpoint('GET', '/things', {
    summary: 'List them',
    access: anyone,
    params: { names: list(text('A name'), 'Names'), sort: json({ type: 'object' }, 'Order') },
    reply: response({ things: listOf(Thing) }),
  }),
  get: endpoint('GET', '/things/{id}', {
    summary: 'Show one',
    access: admin,
    params: { id },
    reply: response({ thing: Thing }),
    errors: ['volume_not_found'],
  }),
  update: endpoint('PUT', '/things/{thing-id}', {
    summary: 'Change one',
    access: admin,
    params: {
      'thing-id': id,
      password: secret('Password'),
      size: withDefault(capacity('Size'), 2048),
      names: list(text('A name'), 'Names', { min: 0 }),
    },
    reply: response({}),
    job: { until: ['ready'] },
  }),
  upload: endpoint('POST', '/things', {
    summary: 'Send a file',
    access: admin,
    params: { body: file('The file') },
    reply: response({}),
  }),
  download: endpoint('GET', '/things.zip', {
    summary: 'Fetch a file',
    access: admin,
    reply: fileReply('application/zip'),
  }),
};

function documentOf(groups: Api['groups'], dialect: Api['dialect']): OpenApiDocument {
  const api = { name: 'sample', title: 'Sample', description: 'A sample.', dialect, asyncStatus: 99, groups };
  return openApiDocument(api, { version: '1.0.0', serverUrl: 'https://granary.example.org/api' });
}

const array = documentOf({ things }, 'array');
const portal = documentOf({ things }, 'portal');

test('a titled record is a component, with null and maps in their short form', () => {
  assert.deepEqual(array.components.schemas?.Thing, {
    title: 'Thing',
    type: 'object',
    properties: {
      name: { type: 'string' },
      note: { type: ['string', 'null'], description: 'Anything' },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
    },
    required: ['name', 'note', 'labels'],
    additionalProperties: false,
  });
});

test('two different records of one title are refused', () => {
  const other = { ...things.get, path: '/others/{id}', reply: success({ thing: record('Thing', { size: str() }) }) };
  assert.throws(() => documentOf({ things, others: { get: other } }, 'portal'), /schemas are named Thing/);
});

test('two operations of one method and path are refused', () => {
  const again = { ...things.get, path: '/things/{name}', params: { name: id } };
  assert.throws(() => documentOf({ things: { ...things, again } }, 'portal'), /things\.again and things\.get/);
});

test('paths that differ only in the names of their parameters are one path', () => {
  assert.deepEqual(Object.keys(array.paths), ['/things', '/things/{id}', '/things.zip']);
  assert.deepEqual(array.paths['/things/{id}']?.put?.parameters, [
    {
      name: 'id',
      in: 'path',
      required: true,
      description: 'The thing',
      schema: { type: 'string', minLength: 1, maxLength: 1024 },
      example: 'thing-1',
    },
  ]);
});

test('GET sends parameters in the query: lists with commas, structures as JSON', () => {
  const [names, sort] = array.paths['/things']?.get?.parameters ?? [];
  assert.partialDeepStrictEqual(names, { name: 'names', in: 'query', required: true, style: 'form', explode: false });
  assert.partialDeepStrictEqual(sort, {
    name: 'sort',
    content: { 'application/json': { schema: { type: 'object' } } },
  });
});

test('PUT sends a body as a form or as JSON', () => {
  const body = array.paths['/things/{id}']?.put?.requestBody;
  const schema = { $ref: '#/components/schemas/ThingsUpdateInput' };
  assert.deepEqual(body, {
    required: true,
    content: {
      'application/x-www-form-urlencoded': { schema, encoding: { names: { style: 'form', explode: false } } },
      'application/json': { schema },
    },
  });
  assert.partialDeepStrictEqual(array.components.schemas?.ThingsUpdateInput, {
    properties: { password: { format: 'password' }, size: { type: 'string', default: '2048M', examples: ['10G'] } },
    required: ['password', 'names'],
  });
});

test('a file is sent as multipart and received as its own type', () => {
  assert.deepEqual(Object.keys(array.paths['/things']?.post?.requestBody?.content ?? {}), ['multipart/form-data']);
  assert.partialDeepStrictEqual(portal.paths['/things.zip']?.get?.responses['200'], {
    content: { 'application/zip': { schema: { type: 'string', format: 'binary' } } },
  });
});

test('what anyone may call needs no credentials, the rest names its roles', () => {
  assert.deepEqual(array.security, [{ accessKey: [] }]);
  assert.deepEqual(portal.security, [{ token: [] }, { basic: [] }]);
  assert.deepEqual(array.paths['/things']?.get?.security, []);
  assert.deepEqual(array.paths['/things'].post?.['x-roles'], ['admin']);
});

test('arrays fail with HTTP 200, the portal with the status of the error', () => {
  const statuses = (document: OpenApiDocument) => Object.keys(document.paths['/things/{id}']?.get?.responses ?? {});
  assert.deepEqual(statuses(array), ['200', '404', '413', '429', '500', '503']);
  assert.deepEqual(statuses(portal), ['200', '400', '401', '403', '404', '413', '429', '500', '503']);
  assert.match(JSON.stringify(array.paths['/things/{id}']?.get?.responses['200']), /10081 `volume_not_found`/);
});

test('a job may be answered before it ends', () => {
  const { responses, 'x-job': job } = array.paths['/things/{id}']?.put ?? {};
  assert.deepEqual(job, { until: ['ready'] });
  assert.match(JSON.stringify(responses?.['200']), /schemas\/Submitted"/);
});

test('the paths start where the server says', () => {
  assert.deepEqual(array.servers, [{ url: 'https://granary.example.org/api' }]);
  assert.deepEqual(openApiDocument(objectsApi, { version: '1.0.0' }).servers, [{ url: '/api' }]);
});
