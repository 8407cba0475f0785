import type { PortalHandlers } from '../handlers.ts';
import type { MailSettings, MailSettingService } from './mail.ts';

export function mailRoutes(settings: MailSettingService): PortalHandlers {
  return {
    settings: {
      getMail: () => ({ mail: viewOf(settings.current()) }),
      setMail: async (input, { actor }) => {
        const change = {
          host: input.smtp_host,
          port: input.smtp_port,
          secure: input.smtp_secure,
          user: input.smtp_user,
          password: input.smtp_password,
          from: input.smtp_from,
          recipients: input.notice_to,
          severity: input.notice_severity,
        };
        return { mail: viewOf(await settings.update(change, actor)) };
      },
    },
  };
}

function viewOf({ host, port, secure, user, from, recipients, severity }: MailSettings) {
  return {
    smtp_host: host,
    smtp_port: port,
    smtp_secure: secure,
    smtp_user: user,
    smtp_from: from,
    notice_to: recipients,
    notice_severity: severity,
  };
}
