import { EventMailer, type EventMailerOptions } from '@granary/kernel';
import type { SettingsService } from '../settings/service.ts';
import type { ArrayTools } from '../tools.ts';

/** Mails the events of an array to those who are named in its settings. */
export function arrayMailer(tools: ArrayTools, settings: SettingsService, options?: EventMailerOptions): EventMailer {
  const { configuration } = tools;
  return new EventMailer(
    {
      ...tools,
      name: () => configuration().displayName,
      mail() {
        const { smtpHost, smtpPort: port, smtpSecure: secure, smtpUser: user, ...chosen } = settings.current();
        if (smtpHost === null || chosen.noticeTo === null) return undefined;
        return {
          server: { host: smtpHost, port, secure, user, password: settings.smtpPassword() },
          from: chosen.smtpFrom ?? `${configuration().internalName}@granary.invalid`,
          to: chosen.noticeTo,
          severity: chosen.noticeSeverity,
        };
      },
    },
    options,
  );
}
