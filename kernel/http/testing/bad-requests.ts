import { pathParams, type Operation, type Param } from '@granary/contract';
import fc from 'fast-check';
import { askedOf, formText, usualEncoding, xmlText, type Asked, type Encoding, type Values } from './encodings.ts';

/** A request that no service may act on. */
export interface BadRequest {
  /** What is wrong with it. */
  readonly what: string;
  readonly asked: Omit<Asked, 'method'> & { readonly method: string };
  /** What the refusal must name. */
  readonly field?: string;
}

/** A value its parameter does not take, and the encodings in which it stays that value. */
interface BadValue {
  readonly value: unknown;
  readonly encodings: readonly Encoding[];
}

const MEGABYTE = 2 ** 20;
const BODY_BYTES_MAX = 2 * MEGABYTE;
const PARAMETERS_MAX = 10_000;

const asText = ['json', 'form', 'query', 'multipart', 'xml'] as const;
/** XML has no way to carry some characters; the others do. */
const asAnyText = ['json', 'form', 'query', 'multipart'] as const;
const asJson = ['json'] as const;

const oversized = fc.constantFrom(MEGABYTE, MEGABYTE + 1).map((length) => 'x'.repeat(length));

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** What is neither text nor a number nor a boolean. */
const structures: fc.Arbitrary<BadValue> = fc
  .oneof(
    { weight: 6, arbitrary: fc.constantFrom<unknown>({}, [], [[]], { a: 1 }, ['a', 'b'], { toString: 1 }, [null]) },
    { weight: 2, arbitrary: fc.integer({ min: 3, max: 500 }).map(nested) },
    { weight: 1, arbitrary: fc.array(fc.jsonValue(), { maxLength: 5 }) },
  )
  .map((value) => ({ value, encodings: asJson }));

const of = (encodings: readonly Encoding[], ...values: unknown[]): fc.Arbitrary<BadValue> =>
  fc.constantFrom(...values).map((value) => ({ value, encodings }));

interface TextSchema {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly enum?: readonly string[];
}

const oddTexts = [
  ' ',
  '\t',
  'a\u0007b',
  'a\u007f',
  '../..',
  "'; DROP TABLE users; --",
  '-',
  '$(id)',
  '<x>',
  '%00',
  '\u202e',
];

function badTexts({ schema, presence }: Param): fc.Arbitrary<BadValue> {
  const { minLength = 0, maxLength = MEGABYTE, pattern, enum: choices } = schema as TextSchema;
  const kinds = [
    structures,
    of(asAnyText, 'a\0b', '\0'),
    of(asJson, 'a\ud800', '\udfff'),
    fc.constant({ value: 'x'.repeat(maxLength + 1), encodings: asText }),
  ];
  const refused = new RegExp(pattern ?? '[^]*', 'u');
  const isChoice = (text: string) => choices?.some((one) => one.toLowerCase() === text.toLowerCase());
  const mismatches = oddTexts.filter((text) => (choices ? !isChoice(text) : !refused.test(text)));
  if (mismatches.length > 0) kinds.push(of(asAnyText, ...mismatches));
  if (choices) {
    const isOther = (text: string) => !isChoice(text);
    const others = fc.string({ minLength: 1 }).filter((text) => isOther(text) && text.trim() !== '');
    kinds.push(
      others.map((value) => ({ value, encodings: asAnyText })),
      of(asText, ...choices.map((choice) => `${choice}s`).filter(isOther)),
    );
  } else if (pattern !== undefined) {
    const others = fc.string({ minLength: 1 }).filter((text) => !refused.test(text));
    if (mismatches.length > 3) kinds.push(others.map((value) => ({ value, encodings: asAnyText })));
  }
  if (presence === 'required' && minLength > 0) kinds.push(of(asText, ''));
  return rarely(
    fc.oneof(...kinds),
    oversized.map((value) => ({ value, encodings: ['json', 'form', 'multipart', 'xml'] as const })),
  );
}

/** A megabyte takes its time: one in fifty is enough. */
function rarely(usual: fc.Arbitrary<BadValue>, large: fc.Arbitrary<BadValue>): fc.Arbitrary<BadValue> {
  return fc.oneof({ weight: 49, arbitrary: usual }, { weight: 1, arbitrary: large });
}

interface NumberSchema {
  readonly minimum?: number;
  readonly maximum?: number;
}

const noNumbers = [
  'abc',
  '1.5.2',
  '1e3',
  '0x10',
  'NaN',
  'Infinity',
  '--1',
  '1 2',
  '٣',
  '9'.repeat(400),
  'true',
  '1;',
  ' ',
];

function badNumbers({ schema, kind }: Param): fc.Arbitrary<BadValue> {
  const { enum: choices = [0] } = schema as { enum?: readonly number[] };
  const { minimum = Math.min(...choices), maximum = Math.max(...choices) } = schema as NumberSchema;
  const below = fc.integer({ min: -(2 ** 52), max: minimum - 1 });
  const above = fc.integer({ min: maximum + 1, max: 2 ** 53 - 1 });
  const fractions = kind === 'integer' ? [of(asText, '1.5', '0.0001'), of(asJson, 1.5, 5e-324)] : [];
  return fc.oneof(
    structures,
    of(asText, ...noNumbers),
    of(asAnyText, '1\0'),
    of(asJson, true, false, 1e308, -1e308),
    fc.oneof(below, above, fc.constantFrom(minimum - 1, maximum + 1)).map((value) => ({ value, encodings: asText })),
    ...fractions,
  );
}

function badBooleans(): fc.Arbitrary<BadValue> {
  return rarely(
    fc.oneof(structures, of(asText, 'maybe', '2', '-1', 'tru', 'yes!', 'null', ' '), of(asJson, 2, -1, 0.5, 1e308)),
    oversized.map((value) => ({ value, encodings: asText.filter((encoding) => encoding !== 'query') })),
  );
}

function badLists({ schema, item, presence }: Param): fc.Arbitrary<BadValue> {
  const { maxItems = 1000 } = schema as { maxItems?: number };
  const inner = item ? badParamValues(item).map(({ value, encodings }) => ({ value: [value], encodings })) : structures;
  const kinds = [
    inner.filter(({ encodings }) => encodings.includes('json')).map(({ value }) => ({ value, encodings: asJson })),
    of(asText, '[1', '1,,2', ',', '[{}]'),
    of(asJson, { a: 1 }, true, [[]], [null], Array(maxItems + 1).fill(1)),
  ];
  // A list of texts takes any text for its one item.
  if (item?.kind !== 'text') kinds.push(of(asText, '{', '1,x', '{"a":1}'));
  if (presence === 'required') kinds.push(of(asJson, []));
  return fc.oneof(...kinds);
}

/** Maps from a drive type to a count, which is what the portal has of this kind. */
function badStructures(): fc.Arbitrary<BadValue> {
  const many = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`key${index}`, 1]));
  const maps = [
    {},
    { a: 0 },
    { a: -1 },
    { a: 1.5 },
    { a: 'x' },
    { a: 1e9 },
    { a: null },
    { a: [1] },
    { a: {} },
    { a: true },
  ];
  const whole = [
    ...maps,
    many,
    [],
    [1],
    { 'a\0': 1 },
    { NO_SUCH_TYPE: 2 },
    { ['k'.repeat(200)]: 2 },
    nested(40),
    nested(400),
  ];
  return fc.oneof(
    of(asJson, ...whole, 5, true, 1e308),
    of(asAnyText, ...whole.map((value) => JSON.stringify(value))),
    of(asText, '{', 'null', '5', '"x"', 'SSD_10GB', '{"a":1', '{"a":1}}', ' ', '{a:1}'),
    fc.dictionary(fc.string({ maxLength: 8 }), fc.integer({ max: 0 }), { minKeys: 1, maxKeys: 3 }).map((value) => ({
      value,
      encodings: asJson,
    })),
  );
}

function badParamValues(param: Param): fc.Arbitrary<BadValue> {
  switch (param.kind) {
    case 'text':
      return badTexts(param);
    case 'integer':
    case 'number':
    case 'capacity':
      return badNumbers(param);
    case 'boolean':
      return badBooleans();
    case 'list':
      return badLists(param);
    case 'json':
      return badStructures();
    case 'file':
      return of(['json', 'form', 'query', 'multipart', 'xml'], 'not a file', 'kind,key');
  }
}

/** What stands where the number of a record should: none of them is one, or it is one that nothing has. */
const noIds = [
  '0',
  '-1',
  'abc',
  '1.5',
  '1e1',
  '0x1',
  '%00',
  '1%00',
  '..%2f..',
  '%2e%2e%2f1',
  "1'--",
  'null',
  '[object%20Object]',
  '1,2',
  '%F0%9F%92%A9',
  '%ff',
  '%',
  '9'.repeat(17),
  '9'.repeat(5000),
  '2147483647',
  '2147483648',
  '%EF%BC%91',
  '*',
  '%20',
];

/** Everything that is wrong with a request that would otherwise succeed. */
export function badRequests(operation: Operation, values: Values): fc.Arbitrary<BadRequest> {
  const { endpoint } = operation;
  const inPath = pathParams(endpoint.path);
  const params = Object.entries(endpoint.params).filter(([name]) => !inPath.includes(name));
  const families = [
    ...params.map(([name, param]) => ({ weight: 3, arbitrary: withBadValue(operation, values, name, param) })),
    ...params
      .filter(([, param]) => param.presence === 'required')
      .map(([name]) => ({ weight: 1, arbitrary: withoutParam(operation, values, name) })),
    ...params.map(([name]) => ({ weight: 1, arbitrary: withParamTwice(operation, values, name) })),
    ...inPath.map((name) => ({ weight: 4, arbitrary: withBadId(operation, values, name) })),
    { weight: 6, arbitrary: withBrokenBody(operation, values) },
    { weight: 2, arbitrary: withBadAddress(operation, values) },
  ];
  return fc.oneof(...families).map(printable);
}

function textOf(body: unknown): string {
  return typeof body === 'string' ? body : Buffer.isBuffer(body) ? body.toString('latin1') : '';
}

/** A failure prints what was wrong, not a megabyte of it. */
function printable(bad: BadRequest): BadRequest {
  const { method, path, headers, body } = bad.asked;
  const short = (text: string) => (text.length > 300 ? `${text.slice(0, 300)}… (${text.length})` : text);
  const shown = `${bad.what}: ${method} ${short(path)} ${JSON.stringify(headers ?? {})} ${short(textOf(body))}`;
  return Object.defineProperty({ ...bad }, fc.toStringMethod, { value: () => shown, enumerable: false });
}

function withBadValue(operation: Operation, values: Values, name: string, param: Param): fc.Arbitrary<BadRequest> {
  return badParamValues(param).chain(({ value, encodings }) =>
    fc.constantFrom(...encodings).map((encoding) => ({
      what: `a bad ${name} as ${encoding}`,
      asked: askedOf(operation, { ...withoutFiles(values, encoding), [name]: value }, encoding),
      field: name,
    })),
  );
}

function withoutParam(operation: Operation, values: Values, name: string): fc.Arbitrary<BadRequest> {
  return fc.constantFrom(...asText).map((encoding) => ({
    what: `no ${name} as ${encoding}`,
    asked: askedOf(operation, { ...withoutFiles(values, encoding), [name]: undefined }, encoding),
    field: name,
  }));
}

/** Only multipart carries files. */
function withoutFiles(values: Values, encoding: Encoding): Values {
  if (encoding === 'multipart') return values;
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => !(value as { bytes?: unknown } | null | undefined)?.bytes),
  );
}

/** A name that comes twice makes a list of two, or the last one counts: neither is what the parameter takes. */
function withParamTwice(operation: Operation, values: Values, name: string): fc.Arbitrary<BadRequest> {
  const { kind } = operation.endpoint.params[name] as Param;
  const rest = restOf(operation, { ...withoutFiles(values, 'form'), [name]: undefined });
  const path = askedOf(operation, values, 'json').path;
  const { method } = operation.endpoint;
  const what = `${name} twice`;
  const twiceInJson = `{"${name}":1,${JSON.stringify({ ...rest, [name]: { again: [] } }).slice(1)}`;
  const json = { what, field: name, asked: { method, path, headers: jsonType, body: twiceInJson } };
  if (kind === 'list' || kind === 'json' || kind === 'file') return fc.constant(json);
  const form = `${formText(rest)}&${name}=1&${name}=2`;
  const xml = xmlText({ ...rest, [name]: 1 }).replace('</request>', `${xmlElementOf(name)}</request>`);
  return fc.constantFrom(
    json,
    { what, field: name, asked: { method, path, headers: formType, body: form } },
    { what, field: name, asked: { method, path: `${path}?${form}` } },
    { what, field: name, asked: { method, path, headers: xmlType, body: xml } },
    { what, field: name, asked: { method, path: `${path}?${formText(rest)}&${name}[a][b][c][d][e][f]=1` } },
  );
}

function xmlElementOf(name: string): string {
  const tag = name.replaceAll('_', '-');
  return `<${tag}>2</${tag}>`;
}

const jsonType = { 'content-type': 'application/json' };
const formType = { 'content-type': 'application/x-www-form-urlencoded' };
const xmlType = { 'content-type': 'application/xml' };

function restOf({ endpoint }: Operation, values: Values): Values {
  const inPath = pathParams(endpoint.path);
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => !inPath.includes(name) && value !== undefined),
  );
}

function withBadId(operation: Operation, values: Values, name: string): fc.Arbitrary<BadRequest> {
  const { path } = operation.endpoint;
  const isText = operation.endpoint.params[name]?.kind === 'text';
  const ids = isText
    ? ['no-such-flavor', '%00', 'nova_id_', 'nova_id_99999', '999999', 'x'.repeat(2000), '..%2f', '%ff']
    : noIds;
  return fc.constantFrom(...ids).map((id) => {
    const wrong = path.replace(`{${name}}`, () => '\u0000');
    const usual = askedOf(
      { ...operation, endpoint: { ...operation.endpoint, path: wrong } },
      values,
      usualEncoding(operation),
    );
    return { what: `${name} is ${id.slice(0, 40)}`, asked: { ...usual, path: usual.path.replace('\u0000', () => id) } };
  });
}

const notJson = [
  '{',
  '[',
  '{"a":}',
  "{'a':1}",
  '{"a":1}}',
  '{"a":1',
  'nul',
  'undefined',
  '{"a":\u0001"b"}',
  '\ufeff{',
  '1',
  'true',
  '"text"',
  'null',
  '[]',
  '[{}]',
  '['.repeat(100_000),
  '{"a":'.repeat(50_000),
];
const notXml = [
  '<!DOCTYPE a [<!ENTITY x "y">]><a><name>&x;</name></a>',
  '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
  '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><a><name>&b;</name></a>',
  '<a><name>&unknown;</name></a>',
  '<a><name>&#0;</name></a>',
  '<a><name>&#x110000;</name></a>',
  '<a><b></a></b>',
  '<a>',
  'not xml at all',
  '<a><![CDATA[</a>',
  '<a><!-- </a>',
  '<>',
  `${'<a>'.repeat(200)}1${'</a>'.repeat(200)}`,
];
const notMultipart = ['', '; boundary=', '; boundary=x', '; boundary="unclosed'];
const otherTypes = [
  'text/plain',
  'application/octet-stream',
  'image/png',
  'application/jsonx-nothing',
  'garbage',
  'application/x-yaml',
  'text/html',
  '*/*',
];

/** A body that cannot be read, whatever the operation; it comes before anything else is looked at. */
function withBrokenBody(operation: Operation, values: Values): fc.Arbitrary<BadRequest> {
  const { method } = operation.endpoint;
  const { path } = askedOf(operation, values, 'json');
  const body = (what: string, type: string, text: string | Buffer, field?: string): BadRequest => ({
    what,
    asked: { method, path, headers: { 'content-type': type }, body: text },
    ...(field !== undefined && { field }),
  });
  const brokenMultipart = '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\ncut off';
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fc.constantFrom(...notJson).map((text) => body('broken JSON', 'application/json', text, 'body')),
    },
    { weight: 8, arbitrary: fc.constantFrom(...notXml).map((text) => body('broken XML', 'text/xml', text, 'body')) },
    {
      weight: 4,
      arbitrary: fc
        .constantFrom(...notMultipart)
        .map((rest) => body('broken multipart', `multipart/form-data${rest}`, brokenMultipart)),
    },
    { weight: 4, arbitrary: fc.constantFrom(...otherTypes).map((type) => body('another type', type, 'name=a')) },
    {
      weight: 2,
      arbitrary: fc
        .uint8Array({ minLength: 1, maxLength: 64 })
        .map((bytes) => body('bytes as JSON', 'application/json', Buffer.from([0xff, ...bytes]), 'body')),
    },
    {
      weight: 1,
      arbitrary: fc.constant(body('too large', 'application/json', `{"a":"${'x'.repeat(BODY_BYTES_MAX)}"}`)),
    },
    {
      weight: 1,
      arbitrary: fc.constant(
        body('too many parameters', formType['content-type'], 'a=1&'.repeat(PARAMETERS_MAX + 1), 'body'),
      ),
    },
  );
}

/** Addresses and methods that name no operation, and keys no POST may carry. */
function withBadAddress(operation: Operation, values: Values): fc.Arbitrary<BadRequest> {
  const usual = askedOf(operation, values, usualEncoding(operation));
  const [path = '', query] = usual.path.split('?');
  const at = (changed: string) => (query === undefined ? changed : `${changed}?${query}`);
  const wrong: BadRequest[] = [
    ...['.yaml', '.xmlx', '.json.json', '.JSON', '.', '/no-such-thing', '%00', ';x=1'].map((suffix) => ({
      what: `the address ends in ${suffix}`,
      asked: { ...usual, path: at(`${path.replace(/\/$/, '')}${suffix}`) },
    })),
    { what: 'a method that is not served', asked: { ...usual, method: 'PATCH' } },
    { what: 'an address in capitals', asked: { ...usual, path: at(path.toUpperCase()) } },
  ];
  const { method, access } = operation.endpoint;
  // Where anyone may call, the key means nothing.
  if (method === 'POST' && access.roles !== 'anyone') {
    const headers = { ...usual.headers, 'idempotency-key': 'k'.repeat(256) };
    wrong.push({ what: 'an endless idempotency key', asked: { ...usual, headers }, field: 'Idempotency-Key' });
  }
  return fc.constantFrom(...wrong);
}
