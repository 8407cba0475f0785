import { S3Error } from '../errors.ts';
import { namesAction } from './actions.ts';
import { conditionKey } from './condition-keys.ts';
import { type Condition, readConditions } from './conditions.ts';
import { limitsCallers } from './limiting-conditions.ts';
import { Pattern } from './pattern.ts';
import { type Principal, readPrincipals } from './principals.ts';

const POLICY_BYTES_MAX = 20 * 1024;
const LIST_MAX = 256;
const VERSIONS = ['2012-10-17', '2008-10-17'];
const RESOURCE = /^arn:aws:s3:::([^/]+)(\/.*)?$/s;
const STATEMENT_FIELDS = new Set([
  'Sid',
  'Effect',
  'Principal',
  'NotPrincipal',
  'Action',
  'NotAction',
  'Resource',
  'NotResource',
  'Condition',
]);

/** Either what is named, or everything but that. */
export interface Named<T> {
  readonly except: boolean;
  readonly list: readonly T[];
}

export interface Statement {
  readonly deny: boolean;
  readonly principals: Named<Principal>;
  readonly actions: Named<Pattern>;
  /** Of `bucket` or `bucket/key`. */
  readonly resources: Named<Pattern>;
  readonly conditions: readonly Condition[];
  /** By a condition, to callers or addresses that it names. */
  readonly limited: boolean;
}

/** A bucket policy as it was put; MalformedPolicy says what is wrong with it. */
export function readPolicy(text: string, bucket: string): Statement[] {
  if (Buffer.byteLength(text) > POLICY_BYTES_MAX)
    throw malformed(`The policy is longer than ${POLICY_BYTES_MAX} bytes.`);
  const { Version, Statement, Id, ...others } = objectOf(parse(text), 'The policy');
  refuseOthers(others, 'the policy');
  if (Version !== undefined && !VERSIONS.some((known) => known === Version)) {
    throw malformed(`Version must be ${VERSIONS.join(' or ')}.`);
  }
  if (Id !== undefined && typeof Id !== 'string') throw malformed('Id must be a text.');
  if (Statement === undefined) throw malformed('The policy needs Statement.');
  return listOf(Statement, 'Statement').map((each, at) => readStatement(each, `Statement ${at + 1}`, bucket));
}

/** One that is to be kept from now on. What was kept before these were asked for is still obeyed as far as it goes. */
export function checkNewPolicy(text: string, bucket: string): void {
  for (const { actions } of readPolicy(text, bucket)) {
    const unknown = actions.list.find((pattern) => !namesAction(pattern));
    if (unknown) throw malformed(`'${unknown.text.slice(0, 64)}' is no action of S3.`);
  }
}

function readStatement(value: unknown, name: string, bucket: string): Statement {
  const fields = objectOf(value, name);
  refuseOthers(Object.fromEntries(Object.entries(fields).filter(([key]) => !STATEMENT_FIELDS.has(key))), name);
  const complain = (message: string) => malformed(`${name}: ${message}`);
  const { Effect, Sid, Condition: block } = fields;
  if (Effect !== 'Allow' && Effect !== 'Deny') throw complain('Effect must be Allow or Deny.');
  if (Sid !== undefined && typeof Sid !== 'string') throw complain('Sid must be a text.');
  return {
    deny: Effect === 'Deny',
    principals: named(fields, 'Principal', complain, (each) => readPrincipals(each, complain)),
    actions: named(fields, 'Action', complain, (each) => texts(each, complain).map((text) => action(text, complain))),
    resources: named(fields, 'Resource', complain, (each) =>
      texts(each, complain).map((text) => resource(text, bucket, complain)),
    ),
    conditions: block === undefined ? [] : readConditions(block, complain),
    limited: block !== undefined && limitsCallers(block),
  };
}

type Complain = (message: string) => S3Error;

function named<T>(
  fields: Readonly<Record<string, unknown>>,
  name: string,
  complain: Complain,
  read: (value: unknown) => T[],
): Named<T> {
  const [plain, except] = [fields[name], fields[`Not${name}`]];
  if ((plain === undefined) === (except === undefined)) throw complain(`needs ${name} or Not${name}, and not both.`);
  return { except: plain === undefined, list: read(plain ?? except) };
}

function action(text: string, complain: Complain): Pattern {
  if (text !== '*' && !/^s3:[A-Za-z*?]+$/i.test(text)) throw complain(`'${text.slice(0, 64)}' is no action of S3.`);
  return new Pattern(text);
}

function resource(text: string, bucket: string, complain: Complain): Pattern {
  const [, name, rest = ''] = RESOURCE.exec(text) ?? [];
  if (name === undefined || !new Pattern(name).matches(bucket, () => undefined)) {
    throw complain(`the resource '${text.slice(0, 128)}' is not in this bucket (arn:aws:s3:::${bucket}).`);
  }
  const pattern = new Pattern(name + rest);
  const unknown = pattern.variables().find((key) => conditionKey(key) === undefined);
  if (unknown !== undefined) throw complain(`the variable \${${unknown.slice(0, 64)}} is not known.`);
  return pattern;
}

function texts(value: unknown, complain: Complain): string[] {
  return listOf(value, 'A list').map((each) => {
    if (typeof each === 'string' && each !== '') return each;
    throw complain('Action and Resource must be texts or lists of texts.');
  });
}

function listOf(value: unknown, name: string): unknown[] {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.length === 0 || list.length > LIST_MAX) throw malformed(`${name} must have 1 to ${LIST_MAX} entries.`);
  return list;
}

function objectOf(value: unknown, name: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw malformed(`${name} must be a JSON object.`);
}

function refuseOthers(others: Readonly<Record<string, unknown>>, name: string): void {
  const [first] = Object.keys(others);
  if (first !== undefined) throw malformed(`${first.slice(0, 64)} in ${name} is not known.`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed('The policy is not valid JSON.');
  }
}

function malformed(message: string): S3Error {
  return new S3Error('MalformedPolicy', message);
}
