import { randomUUID } from 'node:crypto';
import type { NotificationRule } from '@granary/storage/object-store';
import { badArgument, S3Error } from '../../errors.ts';
import { element, field } from '../../xml.ts';
import type { XmlElement } from '../../xml-reader.ts';

const RULES_MAX = 100;
const ID_MAX = 255;
const ADDRESS_MAX = 2048;
const AFFIX_BYTES_MAX = 1024;

/** What is reported here. */
const EVENTS: readonly string[] = [
  's3:ObjectCreated:*',
  's3:ObjectCreated:Put',
  's3:ObjectCreated:Post',
  's3:ObjectCreated:Copy',
  's3:ObjectCreated:CompleteMultipartUpload',
  's3:ObjectRemoved:*',
  's3:ObjectRemoved:Delete',
  's3:ObjectRemoved:DeleteMarkerCreated',
  's3:ObjectTagging:*',
  's3:ObjectTagging:Put',
  's3:ObjectTagging:Delete',
  's3:ObjectAcl:Put',
  's3:LifecycleExpiration:*',
  's3:LifecycleExpiration:Delete',
  's3:LifecycleExpiration:DeleteMarkerCreated',
  's3:LifecycleTransition',
];

/** Destinations of S3 that are services of their own. */
const OTHERS: Readonly<Record<string, string>> = {
  QueueConfiguration: 'There are no queues here.',
  CloudFunctionConfiguration: 'There are no functions here.',
  EventBridgeConfiguration: 'There is no event bridge here.',
};

export function rulesOfXml(root: XmlElement): NotificationRule[] {
  root.only('TopicConfiguration', ...Object.keys(OTHERS));
  for (const { name } of root.children) {
    const reason = OTHERS[name];
    if (reason === undefined) continue;
    throw badArgument(name, '', `${reason} Use a TopicConfiguration whose Topic is the address of a webhook.`);
  }
  const rules = root.children.map(ruleOf);
  if (rules.length > RULES_MAX) throw badArgument('TopicConfiguration', '', `A bucket has at most ${RULES_MAX} rules.`);
  if (new Set(rules.map(({ id }) => id)).size < rules.length) {
    throw badArgument('Id', '', 'Same ID used for multiple configurations. IDs must be unique');
  }
  refuseOverlaps(rules);
  return rules;
}

function ruleOf(topic: XmlElement): NotificationRule {
  topic.only('Id', 'Topic', 'Event', 'Filter');
  const id = topic.text('Id') ?? '';
  if (id.length > ID_MAX) throw badArgument('Id', id, `An Id has at most ${ID_MAX} characters.`);
  const events = topic.all('Event').map(eventOf);
  if (events.length === 0) throw new S3Error('MalformedXML', '<TopicConfiguration> needs <Event>.');
  return {
    id: id === '' ? randomUUID() : id,
    address: addressOf(topic.need('Topic').trim()),
    events: [...new Set(events)],
    ...affixesOf(topic.child('Filter')),
  };
}

function eventOf(element: XmlElement): string {
  const event = element.content.trim();
  if (element.children.length === 0 && EVENTS.includes(event)) return event;
  throw badArgument('Event', event, 'The event is not supported for notifications');
}

/** It is signed, so it holds no password, and what is after a `#` never arrives. */
function addressOf(text: string): string {
  const url = text.length > ADDRESS_MAX ? null : URL.parse(text);
  const isAddress = url !== null && (url.protocol === 'https:' || url.protocol === 'http:');
  if (isAddress && url.username === '' && url.password === '' && url.hash === '') return text;
  throw badArgument(
    'Topic',
    text,
    'The ARN could not be parsed: a Topic is the address of a webhook here, such as https://hooks.example.org/photos.',
  );
}

function affixesOf(filter: XmlElement | undefined): Pick<NotificationRule, 'prefix' | 'suffix'> {
  filter?.onlyOnce('S3Key');
  const key = filter?.child('S3Key');
  key?.only('FilterRule');
  const affixes: { prefix?: string; suffix?: string } = {};
  for (const rule of key?.all('FilterRule') ?? []) {
    rule.onlyOnce('Name', 'Value');
    const given = rule.need('Name').trim();
    const name = given.toLowerCase();
    if (name !== 'prefix' && name !== 'suffix') {
      throw badArgument('FilterRule.Name', given, 'filter rule name must be either prefix or suffix');
    }
    if (affixes[name] !== undefined) {
      throw badArgument('FilterRule.Name', given, `Cannot specify more than one ${name} rule in a filter.`);
    }
    const value = rule.need('Value');
    if (Buffer.byteLength(value) > AFFIX_BYTES_MAX) {
      throw badArgument(
        'FilterRule.Value',
        value,
        `Size of filter rule value cannot exceed ${AFFIX_BYTES_MAX} bytes in UTF-8`,
      );
    }
    affixes[name] = value;
  }
  return affixes;
}

/** An event goes to one place: two rules that could both want it are refused. */
function refuseOverlaps(rules: readonly NotificationRule[]): void {
  for (const [at, one] of rules.entries()) {
    for (const other of rules.slice(at + 1)) {
      if (!sharesEvent(one, other) || !mayBothFit(one, other)) continue;
      throw new S3Error(
        'InvalidArgument',
        'Configuration is ambiguously defined. Cannot have overlapping suffixes in two rules if the prefixes are overlapping for the same event type.',
      );
    }
  }
}

function sharesEvent(one: NotificationRule, other: NotificationRule): boolean {
  const covers = (wide: string, narrow: string) =>
    wide === narrow || (wide.endsWith(':*') && narrow.startsWith(wide.slice(0, -1)));
  return one.events.some((a) => other.events.some((b) => covers(a, b) || covers(b, a)));
}

function mayBothFit(one: NotificationRule, other: NotificationRule): boolean {
  const [a, b] = [one.prefix ?? '', other.prefix ?? ''];
  const [c, d] = [one.suffix ?? '', other.suffix ?? ''];
  return (a.startsWith(b) || b.startsWith(a)) && (c.endsWith(d) || d.endsWith(c));
}

export function rulesXml(rules: readonly NotificationRule[]): string {
  return rules
    .map(({ id, address, events, prefix, suffix }) =>
      element(
        'TopicConfiguration',
        field('Id', id) +
          field('Topic', address) +
          events.map((event) => field('Event', event)).join('') +
          filterXml({ prefix, suffix }),
      ),
    )
    .join('');
}

function filterXml(affixes: Readonly<Record<'prefix' | 'suffix', string | undefined>>): string {
  const rules = (['prefix', 'suffix'] as const)
    .filter((name) => affixes[name] !== undefined)
    .map((name) => element('FilterRule', field('Name', name) + field('Value', affixes[name])));
  return rules.length === 0 ? '' : element('Filter', element('S3Key', rules.join('')));
}
