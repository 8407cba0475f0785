import { endpoint, type Group } from '../endpoint.ts';
import { metricsTokenEndpoints } from '../metrics-token.ts';
import { boolean, choice, integer, optional, secret, text } from '../params.ts';
import { bool, int, nullable, oneOf, record, str } from '../records.ts';
import { envelope, success } from '../reply.ts';
import { sessionSettingEndpoints } from '../sessions.ts';
import { adminOnly } from './access.ts';

const levels = ['debug', 'info'] as const;

export const MailSettings = record('MailSettings', {
  smtp_host: nullable(str()),
  smtp_port: int(),
  smtp_secure: bool(),
  smtp_user: nullable(str()),
  smtp_from: nullable(str()),
  notice_to: nullable(str('Comma list of addresses events are mailed to')),
  notice_severity: int('The least severe that is mailed, on the syslog scale'),
});

export const settings = {
  getLogLevel: endpoint('GET', '/settings/log_level', {
    summary: 'How much the portal logs',
    access: adminOnly,
    reply: envelope({}, { log_level: oneOf(...levels) }),
  }),
  setLogLevel: endpoint('PUT', '/settings/log_level', {
    summary: 'Change how much the portal logs, at once and for good',
    access: adminOnly,
    params: { log_level: choice(levels, 'debug also logs every request', { example: 'info' }) },
    reply: success({}),
  }),
  getArrayRetention: endpoint('GET', '/settings/array_retention', {
    summary: 'How long deleted arrays can be undeleted',
    access: adminOnly,
    reply: success({ retention_hours: int() }),
  }),
  setArrayRetention: endpoint('PUT', '/settings/array_retention', {
    summary: 'Change how long arrays that are deleted from now on can be undeleted',
    access: adminOnly,
    params: {
      retention_hours: integer('Hours; 0 removes an array at once when it is deleted', { max: 8760, example: 24 }),
    },
    reply: success({}),
  }),
  getNetworksPerUser: endpoint('GET', '/settings/networks_per_user', {
    summary: 'How many virtual networks a user may have at a cloud',
    access: adminOnly,
    reply: success({ networks_per_user: int() }),
  }),
  setNetworksPerUser: endpoint('PUT', '/settings/networks_per_user', {
    summary: 'Change how many virtual networks a user may have at a cloud',
    access: adminOnly,
    params: {
      networks_per_user: integer('Networks; administrators may add more for a user', { max: 4094, example: 16 }),
    },
    reply: success({}),
  }),
  getMail: endpoint('GET', '/settings/mail', {
    summary: 'Show who is mailed the events of the portal, and how',
    access: adminOnly,
    reply: success({ mail: MailSettings }),
  }),
  setMail: endpoint('PUT', '/settings/mail', {
    summary: 'Change who is mailed events; what is not sent stays as it is, an empty text takes it away',
    access: adminOnly,
    params: {
      smtp_host: optional(text('Mail server', { min: 0, max: 255, example: 'mail.example.org' })),
      smtp_port: optional(integer('Its port', { min: 1, max: 65_535, example: 25 })),
      smtp_secure: optional(boolean('TLS from the start')),
      smtp_user: optional(text('User to sign in to it with', { min: 0, max: 255 })),
      smtp_password: optional(secret('Password of that user', { min: 0, max: 255 })),
      smtp_from: optional(text('Sender of the mails', { min: 0, max: 254, example: 'portal@example.org' })),
      notice_to: optional(
        text('Comma list of addresses events are mailed to', { min: 0, max: 1024, example: 'ops@example.org' }),
      ),
      notice_severity: optional(integer('The least severe that is mailed: 3 error, 4 warning, 5 notice', { max: 7 })),
    },
    reply: success({ mail: MailSettings }),
    errors: ['address_refused'],
  }),
  ...metricsTokenEndpoints(adminOnly, success),
  ...sessionSettingEndpoints(adminOnly, success),
} satisfies Group;
