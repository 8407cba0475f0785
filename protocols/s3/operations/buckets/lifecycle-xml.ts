import { randomUUID } from 'node:crypto';
import type { LifecycleRule } from '@granary/storage/object-store';
import { badArgument, S3Error } from '../../errors.ts';
import { element, field } from '../../xml.ts';
import type { XmlElement } from '../../xml-reader.ts';
import { checkOrder, transitionsOf, transitionsXml, type PolicyOf } from './lifecycle-transitions.ts';
import { malformed, midnightOf, numberOf } from './lifecycle-values.ts';

const MOST_RULES = 1000;
const MOST_KEPT = 100;
const MOST_PREFIX = 1024;
const MOST_ID = 255;
const RULE = [
  'ID',
  'Prefix',
  'Filter',
  'Status',
  'Expiration',
  'NoncurrentVersionExpiration',
  'AbortIncompleteMultipartUpload',
];
const CRITERIA = ['Prefix', 'Tag', 'ObjectSizeGreaterThan', 'ObjectSizeLessThan'];

/** All rules of a configuration, in the form of today or the one before filters. */
export function lifecycleOfXml(root: XmlElement, policyOf: PolicyOf): LifecycleRule[] {
  root.only('Rule');
  const rules = root.all('Rule').map((rule) => ruleOf(rule, policyOf));
  if (rules.length === 0 || rules.length > MOST_RULES) {
    throw malformed(`<LifecycleConfiguration> has 1 to ${MOST_RULES} rules.`);
  }
  const ids = new Set(rules.map(({ id }) => id));
  if (ids.size < rules.length)
    throw new S3Error('InvalidArgument', 'Rule IDs must be unique. Found the same ID for more than one rule.');
  return rules;
}

function ruleOf(rule: XmlElement, policyOf: PolicyOf): LifecycleRule {
  const repeated = ['Transition', 'NoncurrentVersionTransition'];
  rule.only(...RULE, ...repeated);
  for (const name of RULE) if (rule.all(name).length > 1) throw malformed(`<${name}> is there twice.`);
  const id = rule.text('ID');
  if (id !== undefined && id.length > MOST_ID) {
    throw badArgument('ID', id, `ID length should not exceed allowed limit of ${MOST_ID}`);
  }
  const status = rule.text('Status')?.trim();
  if (status !== 'Enabled' && status !== 'Disabled') throw malformed('<Status> of a rule is Enabled or Disabled.');
  const actions = { ...actionsOf(rule), ...transitionsOf(rule, policyOf) };
  if (Object.keys(actions).length === 0) {
    throw new S3Error('InvalidRequest', 'At least one action needs to be specified in a rule.');
  }
  const filter = filterOf(rule);
  if (filter.tags !== undefined && (actions.abortUploadDays !== undefined || actions.expireDeleteMarkers === true)) {
    throw new S3Error('InvalidRequest', 'Unfinished uploads and delete markers have no tags to choose them by.');
  }
  const read = {
    id: id === undefined || id === '' ? randomUUID() : id,
    enabled: status === 'Enabled',
    ...filter,
    ...actions,
  };
  checkOrder(read);
  return read;
}

type Filter = Pick<LifecycleRule, 'prefix' | 'form' | 'tags' | 'sizeGreaterThan' | 'sizeLessThan'>;

function filterOf(rule: XmlElement): Filter {
  const filter = rule.child('Filter');
  const prefix = rule.text('Prefix');
  if (filter === undefined) {
    if (prefix === undefined) throw malformed('A rule needs <Filter>, or <Prefix> in the older form.');
    return { prefix: checkedPrefix(prefix), form: 'prefix' };
  }
  if (prefix !== undefined) throw malformed('A rule has <Filter> or <Prefix>, not both.');
  const and = filter.child('And');
  if (filter.children.length > 1) throw malformed('<Filter> has one criterion; put several into <And>.');
  if (and === undefined) filter.only(...CRITERIA, 'And');
  else and.only(...CRITERIA);
  const criteria = and ?? filter;
  for (const name of CRITERIA) {
    if (name !== 'Tag' && criteria.all(name).length > 1) throw malformed(`<${name}> is there twice.`);
  }
  const tags = tagsOf(criteria);
  return {
    prefix: checkedPrefix(criteria.text('Prefix') ?? ''),
    ...formOf(filter, and),
    ...(tags !== undefined && { tags }),
    ...sizesOf(criteria),
  };
}

/** Only where it does not follow from the criteria. */
function formOf(filter: XmlElement, and: XmlElement | undefined): Pick<LifecycleRule, 'form'> {
  if (filter.children.length === 0) return { form: 'empty' };
  return and !== undefined && and.children.length <= 1 ? { form: 'and' } : {};
}

function sizesOf(criteria: XmlElement): Pick<LifecycleRule, 'sizeGreaterThan' | 'sizeLessThan'> {
  const [above, below] = [criteria.text('ObjectSizeGreaterThan'), criteria.text('ObjectSizeLessThan')];
  const sizes = {
    ...(above !== undefined && { sizeGreaterThan: numberOf('ObjectSizeGreaterThan', above, 0) }),
    ...(below !== undefined && { sizeLessThan: numberOf('ObjectSizeLessThan', below, 1) }),
  };
  const { sizeGreaterThan = -1, sizeLessThan = Infinity } = sizes;
  if (sizeGreaterThan < sizeLessThan) return sizes;
  throw new S3Error('InvalidRequest', "'ObjectSizeLessThan' has to be a value greater than 'ObjectSizeGreaterThan'.");
}

function checkedPrefix(prefix: string): string {
  if (Buffer.byteLength(prefix) <= MOST_PREFIX) return prefix;
  throw new S3Error('InvalidRequest', `The maximum size of a prefix is ${MOST_PREFIX}.`);
}

function tagsOf(criteria: XmlElement): Readonly<Record<string, string>> | undefined {
  for (const tag of criteria.all('Tag')) checkTag(tag);
  const tags = new Map(criteria.all('Tag').map((tag) => [tag.need('Key'), tag.need('Value')] as const));
  if (tags.size < criteria.all('Tag').length)
    throw new S3Error('InvalidRequest', 'Duplicate Tag Keys are not allowed.');
  return tags.size === 0 ? undefined : Object.fromEntries(tags);
}

function checkTag(tag: XmlElement): void {
  tag.onlyOnce('Key', 'Value');
  const [key, value] = [tag.need('Key'), tag.need('Value')];
  if (key === '' || key.length > 128) throw new S3Error('InvalidTag', 'The TagKey you have provided is invalid');
  if (value.length > 256) throw new S3Error('InvalidTag', 'The TagValue you have provided is invalid');
}

type Actions = Pick<
  LifecycleRule,
  'expireDays' | 'expireDate' | 'expireDeleteMarkers' | 'noncurrentDays' | 'noncurrentKeep' | 'abortUploadDays'
>;

function actionsOf(rule: XmlElement): Actions {
  const noncurrent = rule.child('NoncurrentVersionExpiration');
  const abort = rule.child('AbortIncompleteMultipartUpload');
  noncurrent?.onlyOnce('NoncurrentDays', 'NewerNoncurrentVersions');
  abort?.onlyOnce('DaysAfterInitiation');
  const keep = noncurrent?.text('NewerNoncurrentVersions');
  return {
    ...expirationOf(rule.child('Expiration')),
    ...(noncurrent !== undefined && {
      noncurrentDays: numberOf('NoncurrentDays', noncurrent.need('NoncurrentDays'), 1),
    }),
    ...(keep !== undefined && { noncurrentKeep: numberOf('NewerNoncurrentVersions', keep, 1, MOST_KEPT) }),
    ...(abort !== undefined && {
      abortUploadDays: numberOf('DaysAfterInitiation', abort.need('DaysAfterInitiation'), 1),
    }),
  };
}

function expirationOf(expiration: XmlElement | undefined): Actions {
  if (expiration === undefined) return {};
  expiration.onlyOnce('Days', 'Date', 'ExpiredObjectDeleteMarker');
  if (expiration.children.length !== 1) {
    throw malformed('<Expiration> has one of <Days>, <Date> and <ExpiredObjectDeleteMarker>.');
  }
  const [days, date, markers] = ['Days', 'Date', 'ExpiredObjectDeleteMarker'].map((name) =>
    expiration.text(name)?.trim(),
  );
  if (days !== undefined) return { expireDays: numberOf('Days', days, 1) };
  if (date !== undefined) return { expireDate: midnightOf(date) };
  if (markers === 'true') return { expireDeleteMarkers: true };
  if (markers === 'false') return { expireDeleteMarkers: false };
  throw malformed('<Expiration> has one of <Days>, <Date> and <ExpiredObjectDeleteMarker>.');
}

export function lifecycleXml(rules: readonly LifecycleRule[]): string {
  return rules.map((rule) => element('Rule', ruleXml(rule))).join('');
}

function ruleXml(rule: LifecycleRule): string {
  return (
    field('ID', rule.id) +
    (rule.form === 'prefix' ? field('Prefix', rule.prefix) : element('Filter', filterXml(rule))) +
    field('Status', rule.enabled ? 'Enabled' : 'Disabled') +
    transitionsXml(rule) +
    expirationXml(rule) +
    (rule.noncurrentDays === undefined
      ? ''
      : element(
          'NoncurrentVersionExpiration',
          field('NoncurrentDays', rule.noncurrentDays) + field('NewerNoncurrentVersions', rule.noncurrentKeep),
        )) +
    (rule.abortUploadDays === undefined
      ? ''
      : element('AbortIncompleteMultipartUpload', field('DaysAfterInitiation', rule.abortUploadDays)))
  );
}

function filterXml(rule: LifecycleRule): string {
  const criteria = [
    ...(rule.prefix === '' ? [] : [field('Prefix', rule.prefix)]),
    ...Object.entries(rule.tags ?? {}).map(([name, value]) =>
      element('Tag', field('Key', name) + field('Value', value)),
    ),
    field('ObjectSizeGreaterThan', rule.sizeGreaterThan),
    field('ObjectSizeLessThan', rule.sizeLessThan),
  ].filter((criterion) => criterion !== '');
  if (criteria.length === 0) return rule.form === 'empty' ? '' : inAnd(rule, field('Prefix', ''));
  return criteria.length > 1 || rule.form === 'and' ? element('And', criteria.join('')) : criteria.join('');
}

function inAnd({ form }: LifecycleRule, criteria: string): string {
  return form === 'and' ? element('And', criteria) : criteria;
}

function expirationXml(rule: LifecycleRule): string {
  const date = rule.expireDate === undefined ? undefined : new Date(rule.expireDate).toISOString();
  const inner =
    field('Days', rule.expireDays) + field('Date', date) + field('ExpiredObjectDeleteMarker', rule.expireDeleteMarkers);
  return inner === '' ? '' : element('Expiration', inner);
}
