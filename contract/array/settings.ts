import { endpoint, type Group } from '../endpoint.ts';
import { metricsTokenEndpoints } from '../metrics-token.ts';
import { boolean, choice, integer, optional, secret, text } from '../params.ts';
import { int, nullable, oneOf, record, str, yesNo } from '../records.ts';
import { response } from '../reply.ts';
import { sessionSettingEndpoints } from '../sessions.ts';
import { adminOnly } from './access.ts';

const READ_MODES = ['balanced', 'first', 'least_loaded'] as const;

export const raidReadMode = oneOf(...READ_MODES);

export const Settings = record('Settings', {
  recycle_bin: yesNo(),
  recycle_bin_hours: int('How long they are kept'),
  suspend_seconds: int('How long a snapshot set may hold writes back'),
  encryption_password_set: yesNo(),
  is_encryption_active: yesNo(),
  cpu_usage_alert: int('Percent; 0 is never'),
  mem_usage_alert: int('Percent; 0 is never'),
  raid_read_mode: raidReadMode,
  dm_concurrency_level: int('How many volumes are moved between pools at a time; the others wait'),
  smtp_host: nullable(str()),
  smtp_port: int(),
  smtp_secure: yesNo(),
  smtp_user: nullable(str()),
  smtp_from: nullable(str()),
  notice_to: nullable(str('Comma list of addresses events are mailed to')),
  notice_severity: int('The least severe that is mailed, on the syslog scale'),
});

const settingsReply = response({ settings: Settings });
const password = (description: string) => secret(description, { min: 8, max: 255, example: 'correct horse' });

export const settings = {
  get: endpoint('GET', '/settings', {
    summary: 'Show the settings of the array',
    access: adminOnly,
    reply: settingsReply,
  }),
  update: endpoint('PUT', '/settings', {
    summary: 'Change settings of the array; what is not sent stays as it is, an empty text takes it away',
    access: adminOnly,
    params: {
      recycle_bin: optional(boolean('Keep deleted volumes for a while')),
      recycle_bin_hours: optional(integer('How long to keep them', { min: 1, max: 8760, example: 168 })),
      suspend_seconds: optional(
        integer('How long a snapshot set may hold writes back', { min: 1, max: 60, example: 10 }),
      ),
      cpu_usage_alert: optional(integer('Raise an alert above this many percent; 0 is never', { max: 100 })),
      mem_usage_alert: optional(integer('Raise an alert above this many percent; 0 is never', { max: 100 })),
      raid_read_mode: optional(
        choice(
          READ_MODES,
          'Which drive of a RAID1 group answers a read: neighbouring slices in turns, the first that works, or the one with the fewest reads under way. RAID6 has one copy of each block, so there is nothing to choose',
        ),
      ),
      dm_concurrency_level: optional(
        integer('How many volumes are moved between pools at a time; the others wait', { min: 1, max: 16, example: 2 }),
      ),
      smtp_host: optional(text('Mail server', { min: 0, max: 255, example: 'mail.example.org' })),
      smtp_port: optional(integer('Its port', { min: 1, max: 65_535, example: 25 })),
      smtp_secure: optional(boolean('TLS from the start')),
      smtp_user: optional(text('User to sign in to it with', { min: 0, max: 255 })),
      smtp_password: optional(secret('Password of that user', { min: 0, max: 255 })),
      smtp_from: optional(text('Sender of the mails', { min: 0, max: 254, example: 'array@example.org' })),
      notice_to: optional(
        text('Comma list of addresses events are mailed to', { min: 0, max: 1024, example: 'ops@example.org' }),
      ),
      notice_severity: optional(integer('The least severe that is mailed: 3 error, 4 warning, 5 notice', { max: 7 })),
    },
    reply: settingsReply,
    errors: ['address_refused', 'not_offered'],
  }),
  setEncryptionPassword: endpoint('POST', '/settings/encryption', {
    summary: 'Set or change the password that the keys of encrypted volumes are wrapped with',
    access: adminOnly,
    params: {
      encryption_pwd: password('The password; it is not kept and has to be given again after every restart'),
      old_encryption_pwd: optional(secret('The one before, where there is one', { max: 255 })),
    },
    reply: response({}),
    errors: ['state_conflict', 'volume_locked'],
  }),
  restoreEncryption: endpoint('POST', '/settings/restore_encryption', {
    summary: 'Give the encryption password after a restart, so that encrypted volumes can be used',
    access: adminOnly,
    params: { encryption_pwd: password('The password') },
    reply: response({}),
    errors: ['state_conflict', 'too_many_attempts'],
  }),
  ...metricsTokenEndpoints(adminOnly, response),
  ...sessionSettingEndpoints(adminOnly, response),
} satisfies Group;
