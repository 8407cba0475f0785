import type { TProperties } from 'typebox';
import { endpoint, type Access } from './endpoint.ts';
import { boolean, choice, integer, list, name, optional, page, secret, withDefault, type Param } from './params.ts';
import { int, listOf, nullable, oneOf, record, secretText, shownOnce, str, utc } from './records.ts';
import type { RecordReply } from './reply.ts';

const URL_LENGTH_MAX = 2048;
const KINDS_MAX = 32;

export const Webhook = record('Webhook', {
  id: int(),
  name: str(),
  target_url: secretText('address', 'It may hold a token'),
  shown_url: str('`target_url` without what may be a token: for the person who looks after it'),
  severity: int('Events of this severity and worse are posted, on the syslog scale'),
  kinds: nullable(listOf(str('Only events of these kinds; null is all but logins'))),
  state: oneOf('enabled', 'disabled'),
  waiting: int('Events that are still to be delivered'),
  skipped: int('Events that were given up: too many waited, or the receiver failed for a day'),
  failures: int('Attempts that failed since the last one that succeeded'),
  last_status: nullable(int('HTTP status of the last attempt')),
  last_error: nullable(str('Why the last attempt failed')),
  last_delivered_at: nullable(utc()),
  next_attempt_at: nullable(utc('When it is tried again, while the receiver fails')),
  created_at: utc(),
  modified_at: utc(),
});

export const WebhookTest = record('WebhookTest', {
  result: oneOf('delivered', 'failed'),
  http_status: nullable(int()),
  reason: nullable(str('Why it failed')),
  milliseconds: int(),
});

const SECRET = shownOnce('secret of the webhook', 'Signs what is posted; shown this once');

interface WebhookParts<K extends readonly string[]> {
  readonly administrators: Access;
  readonly reply: <F extends TProperties>(fields: F) => RecordReply<F>;
  readonly kinds: K;
}

/** Group of every service: addresses that its events are posted to. */
export function webhookEndpoints<const K extends readonly [string, ...string[]]>(parts: WebhookParts<K>) {
  const { administrators: access, reply } = parts;
  const id: Param<number, 'required'> = {
    ...integer('The webhook', { min: 1, example: 1 }),
    refers: { group: 'webhooks', field: 'id' },
  };
  // It may hold a token: it is not written to logs.
  const url = secret('Where events are posted to: http or https', {
    max: URL_LENGTH_MAX,
    pattern: '^https?://\\S+$',
    form: 'an address that begins with http:// or https://',
    example: 'http://127.0.0.1:9/hooks',
  });
  const severity = integer('Only events of this severity and worse: 3 error, 4 warning, 5 notice, 6 all', {
    max: 7,
    example: 4,
  });
  const kinds = list(
    choice(parts.kinds, 'A kind of events'),
    'Only events of these kinds; none (an empty value) is all but logins',
    {
      min: 0,
      max: KINDS_MAX,
    },
  );
  const named = name('Name shown to people', { example: 'on-call' });
  return {
    list: endpoint('GET', '/webhooks', {
      summary: 'List the addresses that events are posted to',
      access,
      params: page,
      reply: reply({ webhooks: listOf(Webhook), count: int() }),
    }),
    create: endpoint('POST', '/webhooks', {
      summary: 'Post events from now on to an address; the reply shows the secret that signs them, this once',
      access,
      params: { name: named, target_url: url, severity: withDefault(severity, 4), kinds: optional(kinds) },
      reply: reply({ webhook: Webhook, secret: SECRET }),
      errors: ['name_taken', 'address_refused', 'limit_reached'],
    }),
    get: endpoint('GET', '/webhooks/{id}', {
      summary: 'Show a webhook and how its deliveries go',
      access,
      params: { id },
      reply: reply({ webhook: Webhook }),
      errors: ['webhook_not_found'],
    }),
    update: endpoint('PUT', '/webhooks/{id}', {
      summary: 'Change a webhook; what is not sent stays as it is',
      access,
      params: {
        id,
        name: optional(named),
        target_url: optional(url),
        severity: optional(severity),
        kinds: optional(kinds),
        enabled: optional(boolean('Whether events are posted; what happens meanwhile waits', { example: true })),
        renew_secret: optional(boolean('Make a new secret; the reply shows it, this once')),
      },
      reply: reply({ webhook: Webhook, secret: nullable(SECRET) }),
      errors: ['webhook_not_found', 'name_taken', 'address_refused'],
    }),
    delete: endpoint('DELETE', '/webhooks/{id}', {
      summary: 'Post no more events to an address',
      access,
      params: { id },
      reply: reply({}),
      errors: ['webhook_not_found'],
    }),
    test: endpoint('POST', '/webhooks/{id}/test', {
      summary: 'Post a test event now, and say how the receiver answered',
      access,
      params: { id },
      reply: reply({ test: WebhookTest }),
      errors: ['webhook_not_found'],
    }),
  };
}
