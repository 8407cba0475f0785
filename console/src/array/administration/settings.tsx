import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { ActionButton } from '../../contract/action.tsx';
import { PageHead } from '../../parts/messages.tsx';
import { Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { severities } from '../../parts/severity.tsx';
import { Facts } from '../../parts/small.tsx';
import { Controllers } from './controllers.tsx';

const yes = (value: string) => value === 'YES';

export default function Settings() {
  const reading = useRead(array.settings.get, {});
  return (
    <>
      <PageHead title="Settings" about="Of this array." />
      <Reading of={reading}>
        {({ settings }) => (
          <>
            <Section
              title="Recycle bin, alerts and snapshot sets"
              tools={
                <ActionButton
                  op={array.settings.update}
                  label="Change"
                  isSmall
                  fields={['recycle_bin', 'recycle_bin_hours', 'cpu_usage_alert', 'mem_usage_alert', 'suspend_seconds']}
                  more={[]}
                  start={{
                    recycle_bin: yes(settings.recycle_bin),
                    recycle_bin_hours: settings.recycle_bin_hours,
                    cpu_usage_alert: settings.cpu_usage_alert,
                    mem_usage_alert: settings.mem_usage_alert,
                    suspend_seconds: settings.suspend_seconds,
                  }}
                />
              }
            >
              <Facts
                of={[
                  ['Recycle bin', yes(settings.recycle_bin) ? `keeps volumes ${settings.recycle_bin_hours} h` : 'off'],
                  ['CPU alert', alertOf(settings.cpu_usage_alert)],
                  ['Memory alert', alertOf(settings.mem_usage_alert)],
                  ['Snapshot sets pause writes', `for ${settings.suspend_seconds} s at most`],
                ]}
              />
            </Section>
            <Section
              title="Mail of events"
              tools={
                <ActionButton
                  op={array.settings.update}
                  label="Change"
                  isSmall
                  fields={Object.keys(array.settings.update.endpoint.params).filter((name) =>
                    /^(?:smtp|notice)/.test(name),
                  )}
                  more={[]}
                  start={{
                    ...(settings.smtp_host !== null && { smtp_host: settings.smtp_host }),
                    smtp_port: settings.smtp_port,
                    smtp_secure: yes(settings.smtp_secure),
                    ...(settings.smtp_user !== null && { smtp_user: settings.smtp_user }),
                    ...(settings.smtp_from !== null && { smtp_from: settings.smtp_from }),
                    ...(settings.notice_to !== null && { notice_to: settings.notice_to }),
                    notice_severity: settings.notice_severity,
                  }}
                />
              }
            >
              <Facts
                of={[
                  ['Server', settings.smtp_host === null ? 'none' : `${settings.smtp_host}:${settings.smtp_port}`],
                  ['To', settings.notice_to ?? 'nobody'],
                  ['Minimum severity', `${severities[settings.notice_severity] ?? settings.notice_severity} or worse`],
                ]}
              />
            </Section>
            <Section
              title="Encryption"
              tools={
                yes(settings.encryption_password_set) && !yes(settings.is_encryption_active) ? (
                  <ActionButton op={array.settings.restoreEncryption} label="Give the password" isSmall isMain />
                ) : (
                  <ActionButton op={array.settings.setEncryptionPassword} label="Set the password" isSmall />
                )
              }
            >
              <Facts
                of={[
                  ['Password', yes(settings.encryption_password_set) ? 'set' : 'not set'],
                  ['Encrypted volumes', encryptedWords(settings)],
                ]}
              />
            </Section>
          </>
        )}
      </Reading>
      <Browsers />
      <Controllers />
      <Section
        title="Metrics"
        tools={
          <>
            <ActionButton op={array.settings.createMetricsToken} label="New token" isSmall showsReply />
            <ActionButton op={array.settings.deleteMetricsToken} label="Remove the token" isSmall destroys="token" />
          </>
        }
      >
        A program on another machine reads /metrics with this token and can do nothing else with it.
      </Section>
    </>
  );
}

function alertOf(percent: number): string {
  return percent === 0 ? 'never' : `above ${percent}%`;
}

function Browsers() {
  const reading = useRead(array.settings.getSessions, {});
  return (
    <Reading of={reading}>
      {({ idle_minutes, hours_max }) => (
        <Section
          title="Browsers"
          tools={
            <ActionButton op={array.settings.setSessions} label="Change" isSmall start={{ idle_minutes, hours_max }} />
          }
        >
          <Facts
            of={[
              ['Idle timeout', `${idle_minutes} minutes`],
              ['Session lifetime', `${hours_max} hours`],
            ]}
          />
        </Section>
      )}
    </Reading>
  );
}

function encryptedWords(settings: { readonly encryption_password_set: string; readonly is_encryption_active: string }) {
  if (!yes(settings.encryption_password_set)) return 'can be made once there is a password';
  return yes(settings.is_encryption_active) ? 'can be used' : 'are locked';
}
