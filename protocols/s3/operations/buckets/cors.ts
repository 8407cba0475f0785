import type { Bucket, CorsRule } from '@granary/storage/object-store';
import { S3Error } from '../../errors.ts';
import type { S3Operation } from '../../request.ts';
import { element, field } from '../../xml.ts';
import { readXml, type XmlElement } from '../../xml-reader.ts';
import { changeSettings } from './change-bucket.ts';
import { corsHeaders, corsRuleFor } from './cors-rules.ts';
import { NO_CONTENT, xmlReply } from '../replies.ts';

const MOST_RULES = 100;
const MOST_ITEMS = 100;
const METHODS = ['GET', 'PUT', 'HEAD', 'POST', 'DELETE'];

export const getBucketCors: S3Operation = {
  name: 'GetBucketCors',
  class: 'get',
  subject: 'bucket',
  action: 's3:GetBucketCORS',
  changes: false,
  run({ bucket }) {
    const { cors } = bucket.settings;
    if (cors === undefined) throw new S3Error('NoSuchCORSConfiguration', undefined, { BucketName: bucket.name });
    return xmlReply('CORSConfiguration', cors.map(ruleXml).join(''));
  },
};

export const putBucketCors: S3Operation = {
  name: 'PutBucketCors',
  class: 'put',
  subject: 'bucket',
  action: 's3:PutBucketCORS',
  changes: true,
  async run(request) {
    const root = readXml(await request.body.text(), 'CORSConfiguration');
    root.only('CORSRule');
    const rules = root.all('CORSRule');
    if (rules.length === 0 || rules.length > MOST_RULES) {
      throw new S3Error('MalformedXML', `<CORSConfiguration> has 1 to ${MOST_RULES} rules.`);
    }
    await changeSettings(request, { cors: rules.map(ruleOf) });
    return { status: 200 };
  },
};

export const deleteBucketCors: S3Operation = {
  name: 'DeleteBucketCors',
  class: 'delete',
  subject: 'bucket',
  action: 's3:PutBucketCORS',
  changes: true,
  async run(request) {
    await changeSettings(request, { cors: undefined });
    return NO_CONTENT;
  },
};

/** What a browser asks before it sends the request itself. It is not authenticated; the rules alone answer. */
export function preflight(
  bucket: Bucket | undefined,
  header: (name: string) => string | undefined,
): Record<string, string> {
  const origin = header('origin');
  const method = header('access-control-request-method');
  if (origin === undefined || method === undefined) {
    throw new S3Error('BadRequest', 'OPTIONS needs the headers Origin and Access-Control-Request-Method.');
  }
  const headers = (header('access-control-request-headers') ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const request = { origin, method, headers };
  const rules = bucket?.settings.cors;
  if (rules === undefined) throw forbidden('CORS is not enabled for this bucket.', method);
  const rule = corsRuleFor(rules, request);
  if (rule === undefined) throw forbidden('No CORS rule of the bucket allows this request.', method);
  return corsHeaders(rule, request);
}

/** What is added to the reply of a request that came from a page; nothing where no rule allows it. */
export function corsReplyHeaders(bucket: Bucket, origin: string | undefined, method: string): Record<string, string> {
  if (origin === undefined || bucket.settings.cors === undefined) return {};
  const request = { origin, method, headers: [] };
  const rule = corsRuleFor(bucket.settings.cors, request);
  return rule === undefined ? {} : corsHeaders(rule, request);
}

function forbidden(message: string, method: string): S3Error {
  return new S3Error('AccessForbidden', `CORSResponse: ${message}`, {
    Method: method.slice(0, 32),
    ResourceType: 'OBJECT',
  });
}

function ruleOf(rule: XmlElement): CorsRule {
  rule.only('ID', 'AllowedOrigin', 'AllowedMethod', 'AllowedHeader', 'ExposeHeader', 'MaxAgeSeconds');
  const items = (name: string) => {
    const found = rule.all(name).map(({ content }) => content.trim());
    if (found.length > MOST_ITEMS) throw new S3Error('MalformedXML', `A rule has at most ${MOST_ITEMS} <${name}>.`);
    return found;
  };
  const [origins, methods, headers, expose] = [
    items('AllowedOrigin'),
    items('AllowedMethod'),
    items('AllowedHeader'),
    items('ExposeHeader'),
  ];
  if (origins.length === 0 || methods.length === 0) {
    throw new S3Error('MalformedXML', '<CORSRule> needs <AllowedOrigin> and <AllowedMethod>.');
  }
  for (const method of methods) {
    if (METHODS.includes(method)) continue;
    throw new S3Error(
      'InvalidRequest',
      `Unsupported method ${method.slice(0, 32)}: rules may allow ${METHODS.join(', ')}.`,
    );
  }
  for (const pattern of [...origins, ...headers]) {
    if (pattern.split('*').length <= 2) continue;
    throw new S3Error('InvalidRequest', `"${pattern.slice(0, 64)}" can have one * at most.`);
  }
  const id = rule.text('ID');
  const age = ageOf(rule.text('MaxAgeSeconds'));
  return {
    ...(id !== undefined && { id: id.slice(0, 255) }),
    origins,
    methods,
    ...(headers.length > 0 && { headers }),
    ...(expose.length > 0 && { expose }),
    ...(age !== undefined && { maxAgeSeconds: age }),
  };
}

function ageOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\s*\d{1,9}\s*$/.test(text)) throw new S3Error('MalformedXML', '<MaxAgeSeconds> is a number of seconds.');
  return Number(text);
}

function ruleXml(rule: CorsRule): string {
  const items = (name: string, values: readonly string[] = []) => values.map((value) => field(name, value)).join('');
  return element(
    'CORSRule',
    field('ID', rule.id) +
      items('AllowedMethod', rule.methods) +
      items('AllowedOrigin', rule.origins) +
      items('AllowedHeader', rule.headers) +
      items('ExposeHeader', rule.expose) +
      field('MaxAgeSeconds', rule.maxAgeSeconds),
  );
}
