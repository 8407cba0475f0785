import { objects } from '../../api/objects.ts';
import { ActionButton } from '../../contract/action.tsx';
import { count } from '../../parts/format.ts';
import { Section } from '../../parts/page-link.tsx';
import { Facts } from '../../parts/small.tsx';
import type { Settings } from '../records.ts';
import { isYes } from './setting.ts';

const SECONDS_A_DAY = 86_400;

/** How people sign in, how they are written to, and what the operator may see. */
export function PeopleSettings({ settings: one }: { readonly settings: Settings }) {
  const isExpiring = isYes(one.expire_password);
  const isOpen = isYes(one.admin_access_enabled);
  return (
    <>
      <Section
        title="Mail"
        tools={
          <ActionButton
            op={objects.settings.setMailServer}
            label="Change the mail server"
            isSmall
            fields={['smtp_host', 'smtp_port', 'smtp_secure', 'smtp_user', 'smtp_password', 'smtp_from']}
            more={[]}
            start={{
              smtp_host: one.smtp_host ?? '',
              ...(one.smtp_port !== null && { smtp_port: one.smtp_port }),
              smtp_secure: isYes(one.smtp_secure),
              ...(one.smtp_user !== null && { smtp_user: one.smtp_user }),
              ...(one.smtp_from !== null && { smtp_from: one.smtp_from }),
            }}
            about="Codes for passwords and events go out by it. The password at the server has to be given with each change."
          />
        }
      >
        <Facts
          of={[
            [
              'Server',
              one.smtp_host === null
                ? 'none: mails are written to the outbox folder'
                : `${one.smtp_host}:${one.smtp_port}`,
            ],
            ['Implicit TLS', isYes(one.smtp_secure) ? 'yes' : 'where the server offers it'],
            ['SMTP user', one.smtp_user],
            ['Sender', one.smtp_from],
          ]}
        />
      </Section>
      <Section
        title="Passwords"
        tools={
          <ActionButton
            op={objects.settings.setPasswordRules}
            label="Change the rules"
            isSmall
            start={{
              expire_password: isExpiring,
              expire_password_after: one.expire_password_after,
              password_history: one.password_history,
            }}
          />
        }
      >
        <Facts
          of={[
            [
              'Passwords expire',
              isExpiring ? `after ${count(one.expire_password_after / SECONDS_A_DAY)} days` : 'never',
            ],
            ['Password history', one.password_history],
          ]}
        />
      </Section>
      <Section
        title="Data of accounts"
        tools={
          isOpen ? (
            <ActionButton op={objects.users.disableAdminAccess} label="Deny" isSmall />
          ) : (
            <ActionButton op={objects.users.enableAdminAccess} label="Allow" isSmall />
          )
        }
      >
        <Facts
          of={[
            ['Administrators of the array', isOpen ? 'reach what accounts keep' : 'do not reach what accounts keep'],
          ]}
        />
      </Section>
    </>
  );
}
